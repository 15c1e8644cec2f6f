/** Which sandbox fills a disk, decided from two measurements. */
export type Resource = 'bytes' | 'inodes';

export interface Measured {
  readonly free: number;
  /** What sandboxes took, by id; what is not in it counts as nothing. */
  readonly taken: ReadonlyMap<string, number>;
}

export interface Growth {
  readonly id: string;
  readonly grown: number;
}

/** The one that grew most. Null where something else than sandboxes took most of what is gone. */
export function fastestGrowth(before: Measured, now: Measured): Growth | null {
  const growth = [...now.taken]
    .map(([id, taken]) => ({ id, grown: taken - (before.taken.get(id) ?? 0) }))
    .filter(({ grown }) => grown > 0)
    .sort((one, other) => other.grown - one.grown);
  const gone = before.free - now.free;
  const byAll = growth.reduce((sum, { grown }) => sum + grown, 0);
  return gone > 0 && byAll * 2 >= gone ? (growth[0] ?? null) : null;
}

/** Without an earlier measurement: the one that takes at least half of all that is used. */
export function holderOf(taken: ReadonlyMap<string, number>, used: number): Growth | null {
  const [largest] = [...taken].sort((one, other) => other[1] - one[1]);
  return largest && largest[1] * 2 >= used ? { id: largest[0], grown: largest[1] } : null;
}
