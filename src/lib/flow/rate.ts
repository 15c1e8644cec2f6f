/** How many requests each caller may send: `perSecond` in the long run, `burst` at once. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

interface Bucket {
  left: number;
  atMs: number;
}

/** When there are this many callers, those with a full bucket are forgotten. */
const maxBuckets = 10_000;

export class Rate {
  readonly #limit: RateLimit;
  readonly #nowMs: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: RateLimit, nowMs = () => performance.now()) {
    this.#limit = limit;
    this.#nowMs = nowMs;
  }

  /**
   * Counts a request. Above zero: the request is refused and not counted, and may be sent again after so many
   * milliseconds.
   */
  take(caller: string): number {
    const bucket = this.#filled(caller);
    if (bucket.left < 1) return Math.ceil(((1 - bucket.left) / this.#limit.perSecond) * 1000);
    bucket.left -= 1;
    return 0;
  }

  #filled(caller: string): Bucket {
    const { perSecond, burst } = this.#limit;
    const atMs = this.#nowMs();
    if (this.#buckets.size >= maxBuckets) this.#forget(atMs);
    const known = this.#buckets.get(caller) ?? { left: burst, atMs };
    // A clock that jumps back lets no time pass.
    const passedMs = Math.max(0, atMs - known.atMs);
    known.left = Math.min(burst, known.left + (passedMs / 1000) * perSecond);
    known.atMs = atMs;
    this.#buckets.set(caller, known);
    return known;
  }

  #forget(atMs: number): void {
    const { perSecond, burst } = this.#limit;
    const fullMs = (burst / perSecond) * 1000;
    for (const [caller, bucket] of this.#buckets) if (atMs - bucket.atMs > fullMs) this.#buckets.delete(caller);
  }
}
