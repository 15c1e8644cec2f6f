/** Pending writes, limited in number (back-pressure), so that they do not fill the memory while the disk is slow. */
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

  /** Resolves when all writes are done; they end in order. Rejects when one failed. */
  async settled(): Promise<void> {
    await this.#last;
    this.#check();
  }

  /** Like `settled`, but does not reject: the turn finds the failure. */
  async done(): Promise<void> {
    await this.#last;
  }

  #check(): void {
    const failure = this.#failure;
    this.#failure = null;
    if (failure) throw failure.error;
  }
}
