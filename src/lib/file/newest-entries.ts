/** The newest entries of a log, which are kept in memory for readers that are not behind. */
const keptBytes = 64 * 1024;

export class NewestEntries<T extends { readonly line: string }> {
  #entries: T[] = [];
  #bytes = 0;

  add(entry: T, bytes: number): void {
    this.#entries.push(entry);
    this.#bytes += bytes;
    // Cut at twice the size, so that each entry is copied at most once on average.
    if (this.#bytes > 2 * keptBytes) this.#cut();
  }

  /** The last entries, in order; null: not so many are kept. */
  last(count: number): T[] | null {
    return count > this.#entries.length ? null : this.#entries.slice(this.#entries.length - count);
  }

  #cut(): void {
    let kept = 0;
    let bytes = 0;
    while (kept < this.#entries.length && bytes < keptBytes) {
      kept += 1;
      bytes += this.#entries.at(-kept)!.line.length;
    }
    this.#entries = this.#entries.slice(-kept);
    this.#bytes = bytes;
  }
}
