/** Writes under way, a few at a time, so that what waits for the disk does not fill the memory. */
const maxWrites = 64;

export class Unwritten {
  #count = 0;
  #last: Promise<unknown> = Promise.resolve();
  #failure: { readonly error: unknown } | null = null;

  /** Resolves when there is room for another one. Rejects when an earlier one failed. */
  async add(write: Promise<unknown>): Promise<void> {
    this.#count += 1;
    this.#last = write
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#count -= 1;
      });
    if (this.#count >= maxWrites) await this.#last;
    this.#check();
  }

  /** When all are done; they end in order. */
  async settled(): Promise<void> {
    await this.#last;
    this.#check();
  }

  /** The same, whatever failed: the turn finds that out. */
  async done(): Promise<void> {
    await this.#last;
  }

  #check(): void {
    const failure = this.#failure;
    this.#failure = null;
    if (failure) throw failure.error;
  }
}
