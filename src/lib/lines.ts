/**
 * Text from chunks of bytes, a line at a time. What is not UTF-8 is replaced. Of a line that is too long the start is kept,
 * so memory is bounded whatever comes.
 */
export class Lines {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that end in this chunk, without their ends. */
  push(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      this.#keep(chunk.subarray(start, end));
      lines.push(this.#take());
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    return lines;
  }

  /** What is left when nothing more comes. */
  end(): string[] {
    return this.#bytes > 0 ? [this.#take()] : [];
  }

  #keep(part: Uint8Array): void {
    const room = this.#maxBytes - this.#bytes;
    if (room <= 0 || part.length === 0) return;
    const kept = part.subarray(0, room);
    // A copy: the chunk may be far larger than what is kept of it.
    this.#parts.push(Uint8Array.from(kept));
    this.#bytes += kept.length;
  }

  #take(): string {
    const text = Buffer.concat(this.#parts).toString('utf8').replace(/\r$/, '');
    this.#parts = [];
    this.#bytes = 0;
    return text;
  }
}
