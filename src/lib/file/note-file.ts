/**
 * A file for short-lived lines, such as notes of running operations. It keeps its space: old lines are
 * overwritten with empty lines and not cut off, so that a note can be written on a full disk.
 */
import { closeSync, readFileSync, writeSync } from 'node:fs';
import { openOwn } from './append-file.ts';

const newline = '\n';

export class NoteFile {
  readonly #fd: number;
  #size: number;

  /** `keptBytes`: the space to allocate, if there is enough. */
  constructor(path: string, keptBytes: number) {
    this.#fd = openOwn(path).fd;
    const text = readFileSync(this.#fd, 'latin1');
    this.#size = text.replace(/\n+$/, newline).length;
    this.#blank(text.length, keptBytes);
  }

  /** The bytes of the current notes. */
  get size(): number {
    return this.#size;
  }

  /** Writes the whole line, or nothing that parses as a line. */
  append(line: string): void {
    const end = this.#size + line.length;
    try {
      this.#write(line, this.#size);
    } catch (error) {
      this.#blank(this.#size, end);
      throw error;
    }
    this.#size = end;
  }

  clear(): void {
    this.#write(newline.repeat(this.#size), 0);
    this.#size = 0;
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** Writes newlines as far as there is space, ignoring the rest: then notes need free space. */
  #blank(from: number, to: number): void {
    try {
      if (from < to) this.#write(newline.repeat(to - from), from);
    } catch {}
  }

  #write(text: string, at: number): void {
    const bytes = Buffer.from(text, 'latin1');
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#fd, bytes, done, bytes.length - done, at + done);
  }
}
