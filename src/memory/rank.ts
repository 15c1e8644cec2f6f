/** Reciprocal rank fusion: joins orders whose scores cannot be compared. */

/**
 * The first of one order is worth as much as rank `smoothing + 2` in both. It is about the length of an answer. The usual 60 is for orders of a
 * thousand: in ours of 50, everything that both have would come before the best of one.
 */
const smoothing = 10;

export interface Ranked<T> {
  readonly item: T;
  readonly score: number;
  /** Which of the orders have it. */
  readonly orders: readonly string[];
}

/** Each order has its best item first. Of equal scores the greater item comes first. */
export function fuse<T extends number | string>(
  orders: Readonly<Record<string, readonly T[]>>,
  limit: number,
): Ranked<T>[] {
  const found = new Map<T, { score: number; orders: string[] }>();
  for (const [name, items] of Object.entries(orders)) {
    items.forEach((item, index) => {
      const one = found.get(item) ?? { score: 0, orders: [] };
      one.score += 1 / (smoothing + index + 1);
      one.orders.push(name);
      found.set(item, one);
    });
  }
  return [...found]
    .map(([item, one]) => ({ item, ...one }))
    .sort((a, b) => b.score - a.score || (a.item < b.item ? 1 : -1))
    .slice(0, limit);
}
