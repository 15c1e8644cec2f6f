/** Runs tasks with the same key one after another; other keys run in parallel. */
export class Exclusive {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Settles when every task that was started so far has ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#tails.values());
  }

  isBusy(key: string): boolean {
    return this.#tails.has(key);
  }

  run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const mine = before.then(task, task);
    const settled = mine.catch(() => {});
    this.#tails.set(key, settled);
    void settled.then(() => {
      if (this.#tails.get(key) === settled) this.#tails.delete(key);
    });
    return mine;
  }
}
