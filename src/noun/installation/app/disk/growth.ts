/** Which sandbox fills a disk, decided from two measurements. */
export type Resource = 'bytes' | 'inodes';

export interface Measured {
  readonly free: number;
  /** What sandboxes took, by id; a missing id counts as 0. */
  readonly taken: ReadonlyMap<string, number>;
}

export interface Growth {
  readonly id: string;
  readonly grown: number;
}

/** The sandbox that grew most. Null: something other than sandboxes took most of the lost space. */
export function fastestGrowth(before: Measured, now: Measured): Growth | null {
  const growth = [...now.taken]
    .map(([id, taken]) => ({ id, grown: taken - (before.taken.get(id) ?? 0) }))
    .filter(({ grown }) => grown > 0)
    .sort((one, other) => other.grown - one.grown);
  const gone = before.free - now.free;
  const byAll = growth.reduce((sum, { grown }) => sum + grown, 0);
  return gone > 0 && byAll * 2 >= gone ? (growth[0] ?? null) : null;
}

/** Used without an earlier measurement: the sandbox that takes at least half of the used space. */
export function holderOf(taken: ReadonlyMap<string, number>, used: number): Growth | null {
  const [largest] = [...taken].sort((one, other) => other[1] - one[1]);
  return largest && largest[1] * 2 >= used ? { id: largest[0], grown: largest[1] } : null;
}
