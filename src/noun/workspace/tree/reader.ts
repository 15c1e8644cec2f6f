/** Reads the content of many files and keeps their folders open. */

import { hash } from 'node:crypto';
import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
import { type BytePath, toText } from '../../../model/byte-path.ts';
import { Fault, isFault } from '../../../model/fault.ts';
import type { Content } from '../model/change.ts';
import {
  type Copied,
  copyPart,
  earlierLog,
  type FilePart,
  hashOf,
  openContent,
  openRegular,
  readChunk,
  readKept,
  sameBytes,
  using,
} from './content.ts';
import { Folders, nameOf, parentOf } from './folders.ts';

/** Where content is: in a file or in memory. Plain data. */
export type ContentSource =
  | { readonly from: 'content'; readonly content: Content; readonly path: BytePath }
  | { readonly from: 'bytes'; readonly bytes: Uint8Array };
type Elsewhere = ContentSource & { from: 'content' };

/** Larger files are read again. */
const rememberedFileBytes = 64 * 1024;
const rememberedBytes = 64 * 1024 * 1024;

export type Remembered = Omit<Copied, 'bytes'> & { readonly bytes: Buffer };

export class Reader {
  readonly #trees = new Map<string, Folders>();
  readonly #logs = new Map<string, number>();
  readonly #copied = new Map<string, Remembered>();
  #freeBytes = rememberedBytes;

  /** Null: it is longer than the limit, not a file any more, or lost. */
  read(source: ContentSource, maxBytes: number): Uint8Array | null {
    if (source.from === 'bytes') return source.bytes.length > maxBytes ? null : source.bytes;
    const { content } = source;
    if (content.at === 'log') return content.lengthBytes > maxBytes ? null : this.#kept(content);
    return using(this.#open(source), (part) => {
      if (part.lengthBytes > maxBytes) return null;
      const bytes = Buffer.allocUnsafe(part.lengthBytes);
      return bytes.subarray(0, readChunk(part, 0, bytes));
    });
  }

  /** Copies all of it into an empty file. */
  copy(source: ContentSource, toFd: number): Copied {
    if (source.from === 'bytes') return write(source.bytes, toFd);
    const copied = using(this.#open(source), (part) =>
      part.lengthBytes > rememberedFileBytes ? copyPart(part, toFd) : this.#copySmall(source, part, toFd),
    );
    if (copied === null) throw new Fault('conflict', `${toText(source.path)} was removed while it was being read`);
    return copied;
  }

  /** The content that `copy` read from this source, if it was small. */
  remembered(source: Elsewhere): Remembered | null {
    return this.#copied.get(keyOf(source)) ?? null;
  }

  #copySmall(source: Elsewhere, part: FilePart, toFd: number): Copied {
    const bytes = Buffer.allocUnsafe(part.lengthBytes);
    const copied = write(bytes.subarray(0, readChunk(part, 0, bytes)), toFd);
    this.#freeBytes -= copied.bytes;
    if (this.#freeBytes >= 0) this.#copied.set(keyOf(source), { ...copied, bytes: bytes.subarray(0, copied.bytes) });
    return copied;
  }

  hash(source: ContentSource): string | null {
    if (source.from === 'bytes') return hash('sha256', source.bytes, 'hex');
    return using(this.#open(source), hashOf)?.sha256 ?? null;
  }

  /** False if either is lost. */
  same(one: ContentSource, other: ContentSource): boolean {
    if (one.from === 'bytes') return this.#sameAs(one.bytes, other);
    if (other.from === 'bytes') return this.#sameAs(other.bytes, one);
    // Read once, by a descriptor that stays open.
    if (other.content.at === 'log') return this.#sameAs(this.#kept(other.content), one);
    if (one.content.at === 'log') return this.#sameAs(this.#kept(one.content), other);
    return using(this.#open(one), (a) => using(this.#open(other), (b) => sameBytes(a, b))) ?? false;
  }

  close(): void {
    for (const tree of this.#trees.values()) tree.close();
    for (const fd of this.#logs.values()) closeSync(fd);
    this.#trees.clear();
    this.#logs.clear();
    this.#copied.clear();
  }

  #sameAs(bytes: Uint8Array, other: ContentSource): boolean {
    const read = this.read(other, bytes.length);
    return read !== null && Buffer.compare(read, bytes) === 0;
  }

  #kept(content: Content & { at: 'log' }): Buffer {
    try {
      return readKept(this.#log(content.file), content);
    } catch (error) {
      const earlier = earlierLog(content.file);
      if (!isFault(error, 'corrupt') || !existsSync(earlier)) throw error;
      return readKept(this.#log(earlier), content);
    }
  }

  #log(file: string): number {
    const fd = this.#logs.get(file) ?? openSync(file, 'r');
    this.#logs.set(file, fd);
    return fd;
  }

  #open({ content, path: own }: Elsewhere): FilePart | null {
    if (content.at !== 'tree') return openContent(content, own);
    const path = content.path ?? own;
    const tree = this.#trees.get(content.root) ?? new Folders(content.root);
    this.#trees.set(content.root, tree);
    const folder = tree.open(parentOf(path));
    return folder && openRegular(folder, nameOf(path));
  }
}

/** Calls `work` with a reader and closes it. */
export function reading<T>(work: (reader: Reader) => T): T {
  const reader = new Reader();
  try {
    return work(reader);
  } finally {
    reader.close();
  }
}

function keyOf({ content, path }: Elsewhere): string {
  const at = content.at === 'log' ? `${content.file}\0${content.offset}` : content.at;
  return content.at === 'tree' ? `${content.root}\0${content.path ?? path}` : at;
}

function write(bytes: Uint8Array, fd: number): Copied {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
  return { bytes: bytes.length, sha256: hash('sha256', bytes, 'hex') };
}
