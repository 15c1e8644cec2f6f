/** The wait before the next attempt: none after the first failure, then one that doubles with each further failure. */
const firstWaitMs = 500;
const longestWaitMs = 30_000;

export class Backoff {
  #failures = 0;
  #nextAt = 0;

  get failures(): number {
    return this.#failures;
  }

  /** `most`: failures beyond this number do not lengthen the wait. */
  failed(nowMs: number, most = Number.POSITIVE_INFINITY): void {
    this.#failures = Math.min(this.#failures + 1, most);
    const waitMs = this.#failures === 1 ? 0 : firstWaitMs * 2 ** Math.min(this.#failures - 2, 10);
    this.#nextAt = nowMs + Math.min(waitMs, longestWaitMs);
  }

  succeeded(): void {
    this.#failures = 0;
    this.#nextAt = 0;
  }

  /** Zero: the next attempt may begin now. */
  waitMs(nowMs: number): number {
    return Math.max(0, this.#nextAt - nowMs);
  }
}
