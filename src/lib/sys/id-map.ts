/** The mapping of ids in a user namespace to ids in its parent. */
import { readFileSync } from 'node:fs';

export interface IdMapping {
  readonly inside: number;
  readonly outside: number;
  readonly size: number;
}

/** Parses /proc/PID/uid_map or gid_map. */
export function parseIdMap(text: string): IdMapping[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [inside, outside, size] = line.trim().split(/\s+/).map(Number) as [number, number, number];
    return { inside, outside, size };
  });
}

/** The id mapping of this process. */
export function readIdMap(kind: 'uid' | 'gid'): IdMapping[] {
  return parseIdMap(readFileSync(`/proc/self/${kind}_map`, 'utf8'));
}

/** Null: the id is not mapped. */
export function outsideId(map: readonly IdMapping[], id: number): number | null {
  const part = map.find(({ inside, size }) => id >= inside && id < inside + size);
  return part ? part.outside + id - part.inside : null;
}

/** Null: no id inside is mapped to this one. */
export function insideId(map: readonly IdMapping[], id: number): number | null {
  const part = map.find(({ outside, size }) => id >= outside && id < outside + size);
  return part ? part.inside + id - part.outside : null;
}

/** False in the initial user namespace, where every id is mapped to itself. */
export function isInUserNamespace(): boolean {
  const [first] = readIdMap('uid');
  return !(first?.inside === 0 && first.outside === 0 && first.size === 4_294_967_295);
}
