/**
 * Who agent is. Containers of a plain Docker Engine have the ids of the host, and the engine cannot shift the owners of a
 * mount. So where a sandbox works on somebody's folder, agent is that person by number: the only one who may write there.
 * Root is nobody's agent: without a user namespace it would be the host's root, and its folders are refused.
 */
import { Fault } from '../../model/fault.ts';
import { agentId } from '../local/ids.ts';
import type { Facts } from './facts.ts';

/** As numbers of the host. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export interface Identity {
  readonly inside: Owner;
  readonly outside: Owner;
}

/** A folder whose owner is to appear as agent. */
export interface Owned {
  readonly path: string;
  readonly owner: Owner;
}

const localCure = 'Use the embedded engine, which shifts owners: --engine local.';

/** `self` is who we are when we are not root: then nothing can be given to anybody else. */
export function identityFor(
  folders: readonly Owned[],
  facts: Pick<Facts, 'shift' | 'rootless'>,
  self: Owner | null,
): Identity {
  if (facts.rootless) throw withoutPrivileges();
  const agent = { uid: agentId, gid: agentId };
  if (facts.shift) return shifted(folders, facts.shift, agent);
  const roots = folders.find(({ owner }) => owner.uid === 0);
  if (roots) throw ofRoot(roots.path);
  const [first, ...rest] = folders;
  const other = rest.find(({ owner }) => owner.uid !== first?.owner.uid);
  if (first && other) throw different(first.path, other.path);
  const outside = first ? withoutRootsGroup(first.owner) : (self ?? agent);
  return { inside: outside, outside };
}

function withoutRootsGroup({ uid, gid }: Owner): Owner {
  return { uid, gid: gid === 0 ? uid : gid };
}

function shifted(folders: readonly Owned[], shift: Owner, agent: Owner): Identity {
  const outside = { uid: shift.uid + agent.uid, gid: shift.gid + agent.gid };
  const foreign = folders.find(({ owner }) => owner.uid !== outside.uid);
  if (!foreign) return { inside: agent, outside };
  throw new Fault('unsupported', `${foreign.path} belongs to nobody whom this Docker Engine's containers can be`, {
    hint: `${localCure} Or give the folder to uid ${outside.uid}, or run dockerd without userns-remap.`,
  });
}

/** Its containers have ids that only it can give anything to. */
function withoutPrivileges(): Fault {
  return new Fault('unsupported', 'a Docker Engine that runs without privileges cannot give folders to agent', {
    hint: 'Use the embedded engine, which works without privileges: --engine local.',
  });
}

function ofRoot(path: string): Fault {
  return new Fault('unsupported', `${path} belongs to root, whom no container may be`, {
    hint: `${localCure} Or give the folder to an ordinary user.`,
  });
}

function different(one: string, other: string): Fault {
  return new Fault('unsupported', `${one} and ${other} belong to different people, and agent can be only one of them`, {
    hint: localCure,
  });
}

/** A number as the host knows it, from one of ours: where we are root in a user namespace only, they differ. */
export function hostId(id: number, idMap: string): number {
  const range = rangesOf(idMap).find(([inside, , size]) => id >= inside && id < inside + size);
  return range ? range[1] + (id - range[0]) : id;
}

/** The other way round; null for those we have no number for. */
export function ownId(id: number, idMap: string): number | null {
  const range = rangesOf(idMap).find(([, outside, size]) => id >= outside && id < outside + size);
  return range ? range[0] + (id - range[1]) : null;
}

function rangesOf(idMap: string): [inside: number, outside: number, size: number][] {
  const lines = idMap.trim().split('\n');
  return lines.map((line) => line.trim().split(/\s+/).map(Number) as [number, number, number]);
}
