/** How many messages a participant may post: a burst, then so many a second. */
export class Rate {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #used = new Map<string, { used: number; atMs: number }>();

  constructor(perSecond: number, burst: number) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
  }

  /** Takes one; otherwise says after how many milliseconds there is one. */
  take(name: string, nowMs: number): number | null {
    const before = this.#used.get(name) ?? { used: 0, atMs: nowMs };
    // A clock that jumps back lets no time pass.
    const passedMs = Math.max(0, nowMs - before.atMs);
    const used = Math.max(0, before.used - passedMs * this.#perMs);
    if (used + 1 > this.#burst) return Math.ceil((used + 1 - this.#burst) / this.#perMs);
    this.#used.set(name, { used: used + 1, atMs: nowMs });
    return null;
  }
}
