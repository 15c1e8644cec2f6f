/** What a shutdown waits for: whoever broke it off would leave it to the next daemon. */
import { Fault } from '../model/fault.ts';

export class Work {
  readonly #begun = new Set<Promise<unknown>>();
  #closed = false;

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new Fault('unavailable', 'the daemon is about to end', { hint: 'Try again in a moment.' });
    const begun = task();
    this.#begun.add(begun);
    try {
      return await begun;
    } finally {
      this.#begun.delete(begun);
    }
  }

  /** Lets nothing new begin, and settles when what has begun is over. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#begun);
  }
}
