/**
 * Which id agent has. Containers of a plain Docker Engine have the ids of the host, so agent gets an id that no account
 * has: the user's own range, as in the embedded engine. Id-mapped mounts show the folders of other owners as agent's.
 * If the daemon cannot make such mounts and a sandbox works on a person's folder, agent gets the id of that person,
 * because no other id may write there. Agent never gets the id of the host's root, so folders of root are refused in
 * that case.
 */
import { Fault } from '../../../../model/fault.ts';
import { agentId, identityOf, rootSpace } from '../../local/ids.ts';
import type { EngineFacts } from '../connection/facts.ts';

/** Ids of the host. */
export interface HostOwner {
  readonly uid: number;
  readonly gid: number;
}

export interface DockerIdentity {
  readonly inside: HostOwner;
  readonly outside: HostOwner;
}

/** A folder whose owner must appear as agent. */
export interface FolderOwner {
  readonly path: string;
  readonly owner: HostOwner;
}

const localHint = 'Use the embedded engine, which shifts owners: --engine local.';

export interface IdentityInput {
  /** The number of the user. */
  readonly slot: number;
  readonly facts: Pick<EngineFacts, 'shift' | 'rootless'>;
  /** The ids of the daemon when it is not root: then it cannot change owners. */
  readonly self: HostOwner | null;
}

/** The identity with id-mapped mounts: as in the embedded engine, an id without an account in the range of the user. */
export function ownIdentity({ slot, facts }: IdentityInput): DockerIdentity {
  if (facts.rootless) throw withoutPrivileges();
  if (facts.shift) return shiftedBy(facts.shift, slot);
  const id = identityOf(slot, rootSpace).agentId;
  const outside = { uid: id, gid: id };
  return { inside: outside, outside };
}

/** The ids in an engine that shifts ids: its single range serves all users. */
function shiftedBy(shift: HostOwner, slot: number): DockerIdentity {
  const inside = { uid: agentId + slot, gid: agentId + slot };
  return { inside, outside: { uid: shift.uid + inside.uid, gid: shift.gid + inside.gid } };
}

/** The identity without id-mapped mounts: the owner of the folders decides it. */
export function identityFor(folders: readonly FolderOwner[], input: IdentityInput): DockerIdentity {
  const own = ownIdentity(input);
  if (input.facts.shift) return shifted(folders, own);
  const roots = folders.find(({ owner }) => owner.uid === 0);
  if (roots) throw ofRoot(roots.path);
  const [first, ...rest] = folders;
  const other = rest.find(({ owner }) => owner.uid !== first?.owner.uid);
  if (first && other) throw different(first.path, other.path);
  const outside = first ? withoutRootsGroup(first.owner) : (input.self ?? own.outside);
  return { inside: outside, outside };
}

function withoutRootsGroup({ uid, gid }: HostOwner): HostOwner {
  return { uid, gid: gid === 0 ? uid : gid };
}

function shifted(folders: readonly FolderOwner[], own: DockerIdentity): DockerIdentity {
  const foreign = folders.find(({ owner }) => owner.uid !== own.outside.uid);
  if (!foreign) return own;
  throw new Fault('unsupported', `${foreign.path} has an owner that containers of this Docker Engine cannot have`, {
    hint: `${localHint} Or give the folder to uid ${own.outside.uid}, or run dockerd without userns-remap.`,
  });
}

/** The daemon cannot make files for the container ids of such an engine. */
function withoutPrivileges(): Fault {
  return new Fault(
    'unsupported',
    'a Docker Engine that runs without privileges cannot give folders to the account agent of a sandbox',
    {
      hint: 'Use the embedded engine, which works without privileges: --engine local.',
    },
  );
}

function ofRoot(path: string): Fault {
  return new Fault('unsupported', `${path} belongs to root, and no container may run as root`, {
    hint: `${localHint} Or give the folder to an ordinary user.`,
  });
}

function different(one: string, other: string): Fault {
  return new Fault(
    'unsupported',
    `${one} and ${other} belong to different users, and a sandbox can have the id of only one of them`,
    {
      hint: localHint,
    },
  );
}
