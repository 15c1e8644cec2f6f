/** Running operations that a shutdown waits for, because an interrupted one would be left to the next daemon. */
import { Fault } from '../../model/fault.ts';

export class Work {
  readonly #begun = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();

  async run<T>(task: () => Promise<T>): Promise<T> {
    this.#closing.signal.throwIfAborted();
    const begun = task();
    this.#begun.add(begun);
    try {
      return await begun;
    } finally {
      this.#begun.delete(begun);
    }
  }

  /** Pending waits are cancelled at shutdown. */
  wait<T>(signal: AbortSignal, task: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const closing = this.#closing.signal;
    return task(AbortSignal.any([signal, closing])).catch((error: unknown) => {
      closing.throwIfAborted();
      throw error;
    });
  }

  /** Refuses new tasks, and settles when all running ones have ended. */
  async close(): Promise<void> {
    this.#closing.abort(new Fault('unavailable', 'the daemon is about to end', { hint: 'Try again in a moment.' }));
    await Promise.allSettled(this.#begun);
  }
}
