/** Two time-outs: for all the work, and for the time without a message. Timers are not affected when the clock is set. */
export class Deadlines {
  readonly #allMs: number;
  readonly #silenceMs: number;
  readonly #onLate: () => void;
  #all: NodeJS.Timeout | undefined;
  #silence: NodeJS.Timeout | undefined;
  /** The time-out that passed first, in words; null: none has. */
  late: string | null = null;

  constructor(allMs: number, silenceMs: number, onLate: () => void) {
    this.#allMs = allMs;
    this.#silenceMs = silenceMs;
    this.#onLate = onLate;
  }

  start(): void {
    this.#all = setTimeout(() => this.#pass(`not done after ${this.#allMs / 1000} s`), this.#allMs);
    this.restartSilence();
  }

  restartSilence(): void {
    clearTimeout(this.#silence);
    if (this.late !== null) return;
    this.#silence = setTimeout(() => this.#pass(`no message for ${this.#silenceMs / 1000} s`), this.#silenceMs);
  }

  #pass(what: string): void {
    this.late ??= what;
    this.#onLate();
  }

  dispose(): void {
    clearTimeout(this.#all);
    clearTimeout(this.#silence);
  }
}
