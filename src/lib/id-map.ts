/** How ids in a user namespace relate to those one namespace further out. */
import { readFileSync } from 'node:fs';

export interface IdMapping {
  readonly inside: number;
  readonly outside: number;
  readonly size: number;
}

/** Of /proc/PID/uid_map or gid_map. */
export function parseIdMap(text: string): IdMapping[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [inside, outside, size] = line.trim().split(/\s+/).map(Number) as [number, number, number];
    return { inside, outside, size };
  });
}

/** Our own. */
export function readIdMap(kind: 'uid' | 'gid'): IdMapping[] {
  return parseIdMap(readFileSync(`/proc/self/${kind}_map`, 'utf8'));
}

/** Null where it is nobody. */
export function outsideId(map: readonly IdMapping[], id: number): number | null {
  const part = map.find(({ inside, size }) => id >= inside && id < inside + size);
  return part ? part.outside + id - part.inside : null;
}

/** Null where we have no number for it. */
export function insideId(map: readonly IdMapping[], id: number): number | null {
  const part = map.find(({ outside, size }) => id >= outside && id < outside + size);
  return part ? part.inside + id - part.outside : null;
}

/** Not the first one, in which everybody is who they are. */
export function isInUserNamespace(): boolean {
  const [first] = readIdMap('uid');
  return !(first?.inside === 0 && first.outside === 0 && first.size === 4_294_967_295);
}
