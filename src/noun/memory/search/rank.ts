/** Reciprocal rank fusion: joins orders whose scores cannot be compared. */

/**
 * The first item of one order has the same score as an item at rank `smoothing + 2` of both orders. The value is about
 * the length of an answer. The usual 60 is for orders of a thousand items: with our 50, every item of both orders would
 * come before the best item of only one.
 */
const smoothing = 10;

export interface Ranked<T> {
  readonly item: T;
  readonly score: number;
  /** The orders that contain the item. */
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
