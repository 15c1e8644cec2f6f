/** A token bucket: a burst, then a steady rate. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #left: number;
  #filledMs: number;

  constructor(perSecond: number, burst: number, nowMs = performance.now()) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#left = burst;
    this.#filledMs = nowMs;
  }

  /** Takes a token. 0: the caller may go on; otherwise the caller waits this long first. */
  takeMs(nowMs = performance.now()): number {
    this.#left = Math.min(this.#burst, this.#left + ((nowMs - this.#filledMs) / 1000) * this.#perSecond);
    this.#filledMs = nowMs;
    this.#left -= 1;
    return this.#left >= 0 ? 0 : Math.ceil((-this.#left / this.#perSecond) * 1000);
  }
}

/** Runs at most `count` tasks at a time; the others wait in a queue. */
export class Slots {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free -= 1;
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
