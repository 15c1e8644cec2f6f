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

/** Aborted by the first Ctrl-C: the measurement under way ends, then everything is cleaned up. The second does not wait. */
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
