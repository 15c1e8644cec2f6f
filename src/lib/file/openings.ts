/** What is open by folder, on the side of the daemon. A folder is opened once for all callers. */
export class Openings<T extends { close(): Promise<void> }> {
  readonly #byFolder = new Map<string, Promise<T>>();

  /** The next call opens again if `open` fails. */
  get(folder: string, open: () => Promise<T>): Promise<T> {
    const known = this.#byFolder.get(folder);
    if (known !== undefined) return known;
    const opening = open();
    this.#byFolder.set(folder, opening);
    opening.catch(() => {
      if (this.#byFolder.get(folder) === opening) this.#byFolder.delete(folder);
    });
    return opening;
  }

  has(folder: string): boolean {
    return this.#byFolder.has(folder);
  }

  /** Null: it is not open. */
  async opened(folder: string): Promise<T | null> {
    return (await this.#byFolder.get(folder)?.catch(() => null)) ?? null;
  }

  forget(folder: string): void {
    this.#byFolder.delete(folder);
  }

  forgetAll(): void {
    this.#byFolder.clear();
  }

  async closeAll(): Promise<void> {
    const opened = await Promise.allSettled(this.#byFolder.values());
    for (const one of opened) if (one.status === 'fulfilled') await one.value.close();
  }
}
