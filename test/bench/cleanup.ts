/** What has to be undone at the end, however the end comes. */

export class Cleanup {
  readonly #tasks: { readonly what: string; readonly undo: () => Promise<void> }[] = [];

  add(what: string, undo: () => Promise<void>): void {
    this.#tasks.push({ what, undo });
  }

  /** The last made goes first. One that fails does not keep the others from being tried; false when any did. */
  async run(): Promise<boolean> {
    let clean = true;
    for (let task = this.#tasks.pop(); task; task = this.#tasks.pop()) {
      try {
        await task.undo();
      } catch (error) {
        clean = false;
        process.stderr.write(`bench: cleaning up ${task.what}: ${(error as Error).message}\n`);
      }
    }
    return clean;
  }
}

/** Aborted by the first Ctrl-C: the measurement under way is given up and everything is cleaned up. The second does not wait. */
export function interruption(): AbortSignal {
  const abort = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (abort.signal.aborted) process.exit(130);
      process.stderr.write('\nbench: interrupted; cleaning up (again to leave at once)\n');
      abort.abort(new Error('interrupted'));
    });
  }
  return abort.signal;
}

/** A measurement may take minutes; an interruption does not wait for it. */
export function untilInterrupted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const interrupted = new Promise<never>((_, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  // What it says after it was given up is of no interest, ignoring.
  work.catch(() => {});
  return Promise.race([work, interrupted]);
}
