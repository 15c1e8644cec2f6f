/** Lets a few waiting tasks continue in each turn of the event loop, so that other requests are answered in between. */
const atOnce = 8;

export class FairTurns {
  readonly #waiting: (() => void)[] = [];

  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(() => this.#release());
    });
  }

  #release(): void {
    for (const goOn of this.#waiting.splice(0, atOnce)) goOn();
    if (this.#waiting.length > 0) setImmediate(() => this.#release());
  }
}
