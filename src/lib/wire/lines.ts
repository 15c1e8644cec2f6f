/**
 * Splits chunks of bytes into lines of text. Bytes that are not UTF-8 are replaced. A line past the limit is cut, so that
 * memory is bounded.
 */
export class Lines {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that end in this chunk, without their newlines. */
  push(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      lines.push(this.#bytes === 0 ? this.#text(chunk.subarray(start, end)) : this.#finish(chunk.subarray(start, end)));
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    return lines;
  }

  /** The last line at the end of the input, if it has no newline. */
  end(): string[] {
    return this.#bytes > 0 ? [this.#finish(new Uint8Array())] : [];
  }

  #keep(part: Uint8Array): void {
    const kept = part.subarray(0, this.#maxBytes - this.#bytes);
    if (kept.length === 0) return;
    // A copy: the chunk may be far larger than what is kept of it.
    this.#parts.push(Uint8Array.from(kept));
    this.#bytes += kept.length;
  }

  #finish(last: Uint8Array): string {
    this.#keep(last);
    const line = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    return this.#text(line);
  }

  #text(line: Uint8Array): string {
    const kept = line.subarray(0, this.#maxBytes);
    return Buffer.from(kept.buffer, kept.byteOffset, kept.byteLength).toString('utf8').replace(/\r$/, '');
  }
}
