/** Tasks that undo at the end what the bench did, even after an error or an interruption. */

export class Cleanup {
  readonly #tasks: { readonly what: string; readonly undo: () => Promise<void> }[] = [];

  add(what: string, undo: () => Promise<void>): void {
    this.#tasks.push({ what, undo });
  }

  /** Runs the tasks, the last one added first. A failed task does not stop the others; false: a task failed. */
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

/**
 * The first Ctrl-C aborts the signal: the current measurement is cancelled and everything is cleaned up. The second one
 * exits at once.
 */
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
  // Errors of a cancelled measurement are not reported, ignoring.
  work.catch(() => {});
  return Promise.race([work, interrupted]);
}
