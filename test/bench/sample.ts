/** Takes times and summarizes them. */

/** The time from the request to the first byte of output, and to the end. */
export interface Timing {
  readonly firstMs: number;
  readonly wholeMs: number;
}

export type Measure = () => Promise<Timing>;

export interface Summary {
  readonly count: number;
  readonly min: number;
  readonly p50: number;
  readonly p95: number;
}

export function summarize(samples: readonly number[]): Summary {
  const sorted = [...samples].sort((a, b) => a - b);
  return { count: sorted.length, min: sorted[0]!, p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95) };
}

/** Interpolates between two samples; 0.5 is the median. */
function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)]!;
  return below + (sorted[Math.ceil(place)]! - below) * (place % 1);
}

export const firstOf = (timings: readonly Timing[]): Summary => summarize(timings.map(({ firstMs }) => firstMs));
export const wholeOf = (timings: readonly Timing[]): Summary => summarize(timings.map(({ wholeMs }) => wholeMs));

export async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/**
 * Runs each measure once a round, each round beginning with another one, so that noise affects all equally. All are
 * warmed up once, unless that would take too long. Null: the program is missing and gets no times.
 */
export async function interleave<K extends string, T = Timing>(
  rounds: number,
  measures: Readonly<Record<K, (() => Promise<T>) | null>>,
  signal: AbortSignal,
  warmUp = true,
): Promise<Record<K, T[]>> {
  const all = Object.entries(measures) as [K, (() => Promise<T>) | null][];
  const taken = Object.fromEntries(all.map(([name]) => [name, []])) as unknown as Record<K, T[]>;
  const there = all.filter((one): one is [K, () => Promise<T>] => one[1] !== null);
  if (warmUp) for (const [, measure] of there) await measure();
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < there.length; turn += 1) {
      signal.throwIfAborted();
      const [name, measure] = there[(round + turn) % there.length]!;
      taken[name].push(await measure());
    }
  }
  return taken;
}
