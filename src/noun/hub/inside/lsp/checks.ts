/**
 * Checks that a server runs by itself when it has loaded the project and when a file is saved, such as `cargo check` of
 * rust-analyzer. Their results are pushed; they are not in the server's answer to a request for diagnostics.
 *
 * A new check ends the running one, and both ends look the same. So a file is saved only while no check runs.
 */
import { isBegin, isEnd, type ProgressParams } from './server-work.ts';

export class Checks {
  /** Part of the progress token of checks. */
  readonly #token: string;
  #isLoaded = false;
  #isExpected = false;
  #isRunning = false;
  /** True: the last check does not include the newest changes. */
  #isStale = true;
  #waiting: (() => void)[] = [];

  constructor(token: string) {
    this.#token = token;
  }

  /** Returns whether the progress belongs to a check. */
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

  /** The server begins a check each time it has loaded the project. */
  loaded(isLoaded: boolean): void {
    if (isLoaded && !this.#isLoaded) this.#expect();
    this.#isLoaded = isLoaded;
  }

  changed(): void {
    this.#isStale = true;
  }

  /** True: a check that includes all changes has ended. */
  get areDone(): boolean {
    return this.#isIdle && !this.#isStale;
  }

  /** Resolves when the checks are done. `save` makes the server begin one. */
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
