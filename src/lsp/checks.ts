/**
 * Checks that a server runs by itself when it has loaded the project and when a file is saved, such as `cargo check` of rust-analyzer. What
 * they find is pushed, and is not in what the server answers when it is asked for diagnostics.
 *
 * A check that begins while another one runs ends that one, and both ends look the same. So a file is saved only while no check runs.
 */
import { isBegin, isEnd, type ProgressParams } from './work.ts';

export class Checks {
  /** In the token of their progress. */
  readonly #token: string;
  #isLoaded = false;
  #isExpected = false;
  #isRunning = false;
  /** The last check does not know of the newest changes. */
  #isStale = true;
  #waiting: (() => void)[] = [];

  constructor(token: string) {
    this.#token = token;
  }

  /** Whether the progress is that of a check. */
  progress(params: ProgressParams): boolean {
    if (!String(params.token).includes(this.#token)) return false;
    if (isBegin(params)) {
      this.#isExpected = false;
      this.#isRunning = true;
    }
    if (isEnd(params)) this.#isRunning = false;
    this.#wake();
    return true;
  }

  /** The server begins a check when it has loaded the project, at first and again. */
  loaded(isLoaded: boolean): void {
    if (isLoaded && !this.#isLoaded) this.#expect();
    this.#isLoaded = isLoaded;
  }

  changed(): void {
    this.#isStale = true;
  }

  /** A check has ended that knows of all changes. */
  get areDone(): boolean {
    return this.#isIdle && !this.#isStale;
  }

  /** Resolves when they are. `save` makes the server begin one. */
  async done(save: () => void): Promise<void> {
    while (!this.areDone) {
      if (!this.#isIdle) await this.#next();
      else {
        this.#expect();
        save();
      }
    }
  }

  get #isIdle(): boolean {
    return this.#isLoaded && !this.#isExpected && !this.#isRunning;
  }

  #expect(): void {
    this.#isExpected = true;
    this.#isStale = false;
    this.#wake();
  }

  #next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
