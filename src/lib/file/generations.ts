/**
 * Reads lines from rotated files, oldest first, while they are written and rotated. A file is identified by its inode and its
 * creation time, because rotation changes its name, and an inode number is used again after its file is removed.
 */
import { type Stats, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from './file.ts';

interface Position {
  readonly file: string;
  readonly offset: number;
}

const chunkBytes = 64 * 1024;

export class Generations {
  readonly #folder: string;
  readonly #names: readonly string[];
  #position: Position | null = null;

  /** `names`: from the newest to the oldest; a file that has two of them is read once. */
  constructor(folder: string, names: readonly string[]) {
    this.#folder = folder;
    this.#names = names;
  }

  get count(): number {
    return this.#files().length;
  }

  /** Skips all but the newest files. */
  passOver(butNewest: number): void {
    const file = this.#files().at(-butNewest);
    if (file !== undefined) this.#position = { file, offset: 0 };
  }

  /**
   * Yields every line that was not read before, without its newline, except an incomplete last one. Yields null if
   * lines may be missing: the file that was being read was removed before the reader continued.
   */
  async *rest(): AsyncGenerator<Buffer | null> {
    const later = this.#later();
    let gone = this.#position !== null && later[0] !== this.#position.file;
    for (const known of later) {
      const file = await this.#open(known);
      if (file === null) {
        gone = true;
        continue;
      }
      try {
        if (gone) yield null;
        gone = false;
        yield* this.#read(file, known);
      } finally {
        await file.close();
      }
    }
  }

  /** The file that was being read and those after it; all of them if it is gone. */
  #later(): string[] {
    const files = this.#files();
    const index = files.indexOf(this.#position?.file ?? '');
    return index < 0 ? files : files.slice(index);
  }

  #files(): string[] {
    const newestFirst = this.#names.map((name) => this.#fileAt(name)).filter((file) => file !== null);
    return [...new Set(newestFirst)].reverse();
  }

  #fileAt(name: string): string | null {
    const stat = statSync(join(this.#folder, name), { throwIfNoEntry: false });
    return stat ? identity(stat) : null;
  }

  /** Opens the file under its present name; null: the file is gone. */
  async #open(known: string): Promise<FileHandle | null> {
    for (const name of this.#names.filter((one) => this.#fileAt(one) === known)) {
      const file = await openIfThere(join(this.#folder, name));
      if (file && identity(await file.stat()) === known) return file;
      await file?.close();
    }
    return null;
  }

  async *#read(file: FileHandle, known: string): AsyncGenerator<Buffer> {
    let offset = this.#position?.file === known ? this.#position.offset : 0;
    let held = Buffer.alloc(0);
    const chunk = Buffer.allocUnsafe(chunkBytes);
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, chunk.length, offset + held.length);
      this.#position = { file: known, offset };
      if (bytesRead === 0) return;
      held = Buffer.concat([held, chunk.subarray(0, bytesRead)]);
      for (let end = held.indexOf(0x0a); end >= 0; end = held.indexOf(0x0a)) {
        const line = held.subarray(0, end);
        held = held.subarray(end + 1);
        offset += end + 1;
        this.#position = { file: known, offset };
        yield line;
      }
    }
  }
}

function identity({ ino, birthtimeMs }: Stats): string {
  return `${ino} ${birthtimeMs}`;
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    throw error;
  }
}
