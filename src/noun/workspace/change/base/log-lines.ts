import { fstatSync, readSync } from 'node:fs';

/** Reads lines with content between them, in large pieces. */
export class LogLines {
  readonly #fd: number;
  readonly #endBytes: number;
  #piece = Buffer.alloc(0);
  #pieceAt = 0;
  position = 0;

  constructor(fd: number) {
    this.#fd = fd;
    this.#endBytes = fstatSync(fd).size;
  }

  line(): string | null {
    for (let want = 1024 * 1024; ; want *= 8) {
      const from = this.position - this.#pieceAt;
      const newline = from < this.#piece.length ? this.#piece.indexOf(10, from) : -1;
      if (newline >= 0) {
        this.position = this.#pieceAt + newline + 1;
        return this.#piece.toString('utf8', from, newline);
      }
      if (this.#pieceAt + this.#piece.length >= this.#endBytes && from <= this.#piece.length) return null;
      this.#load(want);
    }
  }

  /** False: fewer bytes are left, or no newline follows. */
  skip(bytes: number): boolean {
    this.position += bytes;
    if (this.position >= this.#endBytes) return false;
    const from = this.position - this.#pieceAt;
    if (from >= this.#piece.length) this.#load(4096);
    this.position += 1;
    return this.#piece[this.position - 1 - this.#pieceAt] === 10;
  }

  #load(bytes: number): void {
    const piece = Buffer.alloc(Math.min(bytes, this.#endBytes - this.position));
    this.#piece = piece.subarray(0, readSync(this.#fd, piece, 0, piece.length, this.position));
    this.#pieceAt = this.position;
  }
}
