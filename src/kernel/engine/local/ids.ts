/** Which ids of the host the sandboxes of a user run with. */
import { readFileSync } from 'node:fs';
import { type IdMapping, parseIdMap } from '../../../lib/sys/id-map.ts';
import { Fault } from '../../../model/fault.ts';

/** The uid and gid of `agent` inside every sandbox. */
export const agentId = 1000;

export interface LocalIdentity {
  readonly mappings: readonly IdMapping[];
  /** The ids of root and agent outside. */
  readonly rootId: number;
  readonly agentId: number;
}

/** The host ids that the daemon may assign. */
export interface IdSpace {
  readonly base: number;
  readonly count: number;
  readonly perUser: number;
  /** The daemon is root in a user namespace only; its files belong to an ordinary user. */
  readonly rootless: boolean;
}

/** Above the ranges that systemd uses for containers, below those that not every program accepts. */
export const rootSpace: IdSpace = { base: 0x7000_0000, count: 4094 * 65536, perUser: 65536, rootless: false };

/**
 * Enough for root and agent; other ids appear as the overflow id. Small, since a subordinate range usually has only
 * 65536 ids.
 */
const perUserRootless = 4096;

export function readIdSpace(uidMap = readFileSync('/proc/self/uid_map', 'utf8')): IdSpace {
  const mapped = parseIdMap(uidMap).reduce((sum, { size }) => sum + size, 0);
  if (mapped > rootSpace.base + rootSpace.count) return rootSpace;
  return { base: 1, count: mapped - 1, perUser: perUserRootless, rootless: true };
}

export function identityOf(slot: number, space: IdSpace): LocalIdentity {
  const offset = slot * space.perUser;
  if (offset + space.perUser > space.count) {
    throw new Fault('exhausted', `no range of ${space.perUser} ids is left for user number ${slot}`, {
      hint: 'Give this account a larger range in /etc/subuid and /etc/subgid.',
    });
  }
  const base = space.base + offset;
  return { mappings: [{ inside: 0, outside: base, size: space.perUser }], rootId: base, agentId: base + agentId };
}

/**
 * The identity with `ownId` as the host id of agent, so that a rootless sandbox can work on a folder of the person who
 * runs the daemon. The kernel maps the owners of a mount only for real root.
 */
export function withAgentAs(identity: LocalIdentity, ownId: number): LocalIdentity {
  const { rootId, mappings } = identity;
  const size = mappings[0]!.size;
  return {
    rootId,
    agentId: ownId,
    mappings: [
      { inside: 0, outside: rootId, size: agentId },
      { inside: agentId, outside: ownId, size: 1 },
      { inside: agentId + 1, outside: rootId + agentId + 1, size: size - agentId - 1 },
    ],
  };
}
