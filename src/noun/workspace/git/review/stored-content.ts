/** Loads what a store holds of a file: its bytes, or a placeholder and facts about it. */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { type BytePath, toBytes } from '../../../../model/byte-path.ts';
import type { Content, Entry } from '../../model/change.ts';
import { copyContent, isBinary, isHollow } from '../../tree/content.ts';
import type { Reader } from '../../tree/reader.ts';

/** The facts about one side of a file that is not shown. */
export interface Fact {
  readonly kind: 'text' | 'binary' | 'large' | 'unreadable';
  readonly sizeBytes: number;
  /** Null: it is unreadable. */
  readonly sha256: string | null;
}

export type StoredData = Buffer | { readonly file: string; readonly bytes: number };

export interface Loaded {
  readonly fact: Fact;
  /** Null: there are only facts. */
  readonly data: StoredData | null;
}

export interface Stored {
  readonly path: BytePath;
  readonly entry: Entry;
  readonly content: Content | null;
  /** Where to put the bytes of a large file; null: they are only hashed. */
  readonly spill: string | null;
}

const maxShownBytes = 1024 * 1024;
/** Git shows nothing of a binary file, and takes three times as long to say so as hashing the file. */
const maxBinaryBytes = 64 * 1024;
const pieceBytes = 512 * 1024;

export function load(reader: Reader, stored: Stored): Loaded {
  const { entry, content, path, spill } = stored;
  if (entry.type === 'link') return inMemory('text', toBytes(entry.target ?? ''));
  if (content === null || content.at === 'lost') return unreadable(entry);
  const source = { from: 'content', content, path } as const;
  const bytes = entry.sizeBytes > maxShownBytes ? null : (reader.read(source, maxShownBytes) as Buffer | null);
  if (bytes !== null && isBinary(bytes)) return binary(bytes, spill === null);
  if (bytes !== null) return inMemory('text', bytes);
  // The file is large, or has grown since it was listed.
  if (spill !== null && !isHollow(content, path)) return spilled(stored, content, spill);
  const sha256 = reader.hash(source);
  return sha256 === null
    ? unreadable(entry)
    : { fact: { kind: 'large', sizeBytes: entry.sizeBytes, sha256 }, data: null };
}

function spilled({ entry, path }: Stored, content: Content, file: string): Loaded {
  const fd = openSync(file, 'w', 0o600);
  try {
    const copied = copyContent(content, path, fd);
    if (copied === null) return unreadable(entry);
    const { bytes, sha256 } = copied;
    return { fact: { kind: 'large', sizeBytes: bytes, sha256 }, data: { file, bytes } };
  } finally {
    closeSync(fd);
  }
}

function inMemory(kind: 'text' | 'binary', data: Buffer): Loaded {
  return { fact: { kind, sizeBytes: data.length, sha256: null }, data };
}

function binary(data: Buffer, toBeShown: boolean): Loaded {
  const loaded = inMemory('binary', data);
  return toBeShown && !isWhole(loaded.fact) ? { fact: hashed(loaded), data: null } : loaded;
}

/** Whether the store has the bytes of the file, and not a placeholder. */
export function isWhole({ kind, sizeBytes }: Fact): boolean {
  return kind === 'text' || (kind === 'binary' && sizeBytes <= maxBinaryBytes);
}

function unreadable({ sizeBytes }: Entry): Loaded {
  return { fact: { kind: 'unreadable', sizeBytes, sha256: null }, data: null };
}

export function hashed({ fact, data }: Loaded): Fact {
  if (fact.sha256 !== null || !Buffer.isBuffer(data)) return fact;
  return { ...fact, sha256: createHash('sha256').update(data).digest('hex') };
}

/** The placeholder is binary for git, equal for equal bytes, and similar to nothing else. */
export function placeholderContent(fact: Fact, path: BytePath, side: string): Buffer {
  return Buffer.from(fact.sha256 === null ? `\0${side} of ${path}` : `\0sha256:${fact.sha256}`, 'latin1');
}

/** Large files are not searched and count as if they had a CR LF. */
export function hasCrLf({ data }: Loaded): boolean {
  return data !== null && (!Buffer.isBuffer(data) || data.includes('\r\n'));
}

export function* pieces(data: StoredData): Generator<Buffer> {
  if (Buffer.isBuffer(data)) {
    yield data;
    return;
  }
  const fd = openSync(data.file, 'r');
  try {
    for (;;) {
      const buffer = Buffer.allocUnsafe(pieceBytes);
      const bytes = readSync(fd, buffer);
      if (bytes === 0) return;
      yield buffer.subarray(0, bytes);
    }
  } finally {
    closeSync(fd);
  }
}

export function sizeOf(data: StoredData): number {
  return Buffer.isBuffer(data) ? data.length : data.bytes;
}
