/**
 * Reads the content of files in logs, and in trees that others may be changing. No link is followed, no FIFO blocks.
 */
import { createHash, hash } from 'node:crypto';
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { Anchor, within } from '../../../lib/file/anchor.ts';
import { readOnly } from '../../../lib/file/bounded-read.ts';
import { checkCancelled } from '../../../lib/flow/cancel.ts';
import { statOf } from '../../../lib/sys/stat.ts';
import { nextData, openAt } from '../../../lib/sys/sys.ts';
import { type BytePath, toBytes } from '../../../model/byte-path.ts';
import { Fault } from '../../../model/fault.ts';
import type { Content } from '../model/change.ts';
import { unlessGone } from './tree.ts';

const chunkBytes = 256 * 1024;
const [chunk, otherChunk] = [Buffer.alloc(chunkBytes), Buffer.alloc(chunkBytes)];

/** Null: it vanished, is not a regular file any more, or is larger than the limit. */
export function readContent(content: Content, path: BytePath, maxBytes: number): Buffer | null {
  return using(openContent(content, path), (part) => {
    if (part.lengthBytes > maxBytes) return null;
    const bytes = Buffer.allocUnsafe(part.lengthBytes);
    return bytes.subarray(0, readChunk(part, 0, bytes));
  });
}

export interface Copied {
  readonly bytes: number;
  readonly sha256: string;
}

/** Writes to `toFd`, which is empty; long runs of zeros become holes. Null: there is nothing to read. */
export function copyContent(content: Content, path: BytePath, toFd: number): Copied | null {
  return using(openContent(content, path), (part) => copyPart(part, toFd));
}

export function copyPart(part: FilePart, toFd: number): Copied {
  const copied = eachChunk(part, (bytes, position) => {
    if (!isZero(bytes)) writeFully(toFd, bytes, position);
  });
  ftruncateSync(toFd, copied.bytes);
  return copied;
}

/** A part of an open file. */
export interface FilePart {
  readonly fd: number;
  readonly offset: number;
  readonly lengthBytes: number;
  /** True: it may have holes. */
  readonly isSparse?: boolean;
}

export function hashOf(part: FilePart): Copied {
  return eachChunk(part, () => undefined);
}

/** The whole of a regular file in an open folder. */
export function openRegular(folder: Anchor, name: BytePath): FilePart | null {
  const fd = unlessGone(() => openAt({ folderFd: folder.fd, name }, readOnly));
  if (fd === null) return null;
  const stat = statOf(fd);
  const lengthBytes = Number(stat.size);
  if (stat.isFile()) return { fd, offset: 0, lengthBytes, isSparse: stat.blocks * 512 < lengthBytes };
  closeSync(fd);
  return null;
}

/** Like `openRegular`, for a path below a root, opened name by name. */
export function openBelow(root: string, path: BytePath): FilePart | null {
  const names = path.split('/');
  const last = names.pop()!;
  const folder = folderBelow(root, names);
  return folder && within(folder, () => openRegular(folder, last));
}

export function folderBelow(root: string, names: readonly BytePath[]): Anchor | null {
  let folder: Anchor | null = unlessGone(() => Anchor.reach(root));
  for (const name of names) {
    const next: Anchor | null = unlessGone(() => folder!.enter(toBytes(name)));
    folder?.close();
    if (next === null) return null;
    folder = next;
  }
  return folder;
}

/** Compares two files of equal size. Null stands for a file that is gone, equal to nothing. */
export function sameBytes(one: FilePart | null, other: FilePart | null): boolean {
  if (one === null || other === null) return false;
  for (let position = 0; ; ) {
    position = Math.min(afterHole(one, position), afterHole(other, position));
    const ones = readChunk(one, position, chunk);
    const others = readChunk(other, position, otherChunk);
    if (ones !== others || chunk.compare(otherChunk, 0, others, 0, ones) !== 0) return false;
    if (ones < chunkBytes) return true;
    position += ones;
  }
}

/** Calls `work` with an open part and closes it. */
export function using<T>(part: FilePart | null, work: (part: FilePart) => T | null): T | null {
  if (part === null) return null;
  try {
    return work(part);
  } finally {
    closeSync(part.fd);
  }
}

/** Whether most of a file is a hole, too large to be written out in a patch or a commit. */
export function isHollow(content: Content, path: BytePath): boolean {
  return (
    using(openContent(content, path), ({ fd, lengthBytes, isSparse = false }) => {
      return isSparse && lengthBytes > maxHollowBytes && fstatSync(fd).blocks * 512 < lengthBytes / 2;
    }) ?? false
  );
}

const maxHollowBytes = 256 * 1024 ** 2;

/** Null: it is lost, vanished, or is not a regular file any more. */
export function openContent(content: Content, path: BytePath): FilePart | null {
  if (content.at === 'lost') return null;
  if (content.at === 'tree') return openBelow(content.root, content.path ?? path);
  const part = openKept(content, content.file) ?? openKept(content, earlierLog(content.file));
  if (part === null) throw damaged(content);
  return part;
}

function openKept(content: Content & { at: 'log' }, file: string): FilePart | null {
  const fd = unlessGone(() => openSync(file, 'r'));
  if (fd === null) return null;
  const part = { ...content, fd };
  if (hashOf(part).sha256 === content.sha256) return part;
  closeSync(fd);
  return null;
}

/** The name under which a log stays for its readers after it was rewritten. */
export function earlierLog(file: string): string {
  return `${file}.old`;
}

/** Reads the whole of a recorded content from an open log, and checks its hash. */
export function readKept(fd: number, content: Content & { at: 'log' }): Buffer {
  const bytes = Buffer.allocUnsafe(content.lengthBytes);
  const length = readChunk({ ...content, fd }, 0, bytes);
  const sha256 = hash('sha256', bytes.subarray(0, length), 'hex');
  if (sha256 !== content.sha256) throw damaged(content);
  return bytes;
}

function damaged({ file, offset }: Content & { at: 'log' }): Fault {
  return new Fault('corrupt', `what ${file} keeps at ${offset} is not what was written there`);
}

/**
 * Content with more zeros than this is identified by its other blocks: a hole of any length costs its writer a few bytes, and
 * must cost no more here. Written zeros and a hole give the same hash. Content that is read into memory is shorter.
 */
const maxZeroBytes = 1024 ** 2;
const blockBytes = 4096;

type Work = (bytes: Buffer, position: number) => void;

/** `sha256` is that of the bytes, or of the blocks that are not zero, with `sparse:` before it. */
function eachChunk(part: FilePart, work: Work): Copied {
  return wholeHash(part, work) ?? sparseHash(part, work);
}

/** Null: there are too many zeros. */
function wholeHash(part: FilePart, work: Work): Copied | null {
  const hash = createHash('sha256');
  let zeroBytes = 0;
  for (let position = 0; ; ) {
    const next = afterHole(part, position);
    zeroBytes += next - position - ((next - position) % blockBytes);
    if (zeroBytes > maxZeroBytes) return null;
    for (; position < next; position += Math.min(chunkBytes, next - position))
      hash.update(zeros.subarray(0, Math.min(chunkBytes, next - position)));
    const bytes = chunk.subarray(0, readChunk(part, position, chunk));
    if (bytes.length === 0) return { bytes: position, sha256: hash.digest('hex') };
    zeroBytes += blocksOf(bytes).filter(isZeroBlock).length * blockBytes;
    if (zeroBytes > maxZeroBytes) return null;
    hash.update(bytes);
    work(bytes, position);
    position += bytes.length;
  }
}

function sparseHash(part: FilePart, work: Work): Copied {
  const hash = createHash('sha256');
  for (let position = 0; ; ) {
    position = afterHole(part, position);
    const bytes = chunk.subarray(0, readChunk(part, position, upToHole(part, position)));
    if (bytes.length === 0) return { bytes: position, sha256: `sparse:${hash.update(`${position}`).digest('hex')}` };
    for (const [index, block] of blocksOf(bytes).entries())
      if (!isZeroBlock(block)) hash.update(`${position + index * blockBytes} `).update(block);
    work(bytes, position);
    position += bytes.length;
  }
}

function blocksOf(bytes: Buffer): Buffer[] {
  const count = Math.ceil(bytes.length / blockBytes);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * blockBytes, (index + 1) * blockBytes));
}

function isZeroBlock(block: Buffer): boolean {
  return block.length === blockBytes && zeros.compare(block, 0, blockBytes, 0, blockBytes) === 0;
}

/** The position of the next data if this one is in a hole, otherwise this one. At the end: the end. */
function afterHole({ fd, offset, lengthBytes, isSparse }: FilePart, position: number): number {
  if (!isSparse || position >= lengthBytes) return position;
  checkCancelled();
  const start = nextData(fd, offset + position)?.start;
  if (start === undefined) return Math.max(position, Math.min(lengthBytes, fstatSync(fd).size - offset));
  return Math.max(position, Math.min(lengthBytes, start - offset - ((start - offset) % blockBytes)));
}

/** A buffer for the bytes up to the next hole, so that small pieces of data are read without the zeros around them. */
function upToHole({ fd, offset, isSparse }: FilePart, position: number): Buffer {
  const end = isSparse ? nextData(fd, offset + position)?.end : undefined;
  if (end === undefined) return chunk;
  const length = Math.ceil((end - offset - position) / blockBytes) * blockBytes;
  return chunk.subarray(0, Math.max(blockBytes, Math.min(chunkBytes, length)));
}

/** Fills the buffer; less only at the end. */
export function readChunk({ fd, offset, lengthBytes }: FilePart, position: number, into: Buffer): number {
  checkCancelled();
  const want = Math.min(into.length, lengthBytes - position);
  for (let length = 0; ; ) {
    const bytes = length < want ? readSync(fd, into, length, want - length, offset + position + length) : 0;
    if (bytes === 0) return length;
    length += bytes;
  }
}

export function writeFully(fd: number, bytes: Buffer, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(fd, bytes, done, bytes.length - done, position + done);
  }
}

/** Follows the rule of git: a NUL in the first 8000 bytes. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 8000).includes(0);
}

function isZero(bytes: Buffer): boolean {
  return bytes.length === chunkBytes && bytes.equals(zeros);
}

const zeros = Buffer.alloc(chunkBytes);
