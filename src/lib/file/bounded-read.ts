/**
 * Reads of regular files that another process may write to, or replace by something else, at any time. No link is
 * followed, no FIFO blocks the reader, and the bytes that arrive are counted: the size that `stat` reports is no bound for
 * what a read returns. A file that shrinks meanwhile yields what was left of it.
 */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { Anchor, type Name, O_PATH, within } from './anchor.ts';
import { isErrno } from './file.ts';

export type RefusalReason = 'link' | 'not_regular' | 'too_large';

const meaning: Readonly<Record<RefusalReason, string>> = {
  link: 'a link, or a path that leads through one',
  not_regular: 'not a regular file',
  too_large: 'too large',
};

export class ReadRefusal extends Error {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, cause?: unknown) {
    super(meaning[reason], { cause });
    this.reason = reason;
  }
}

export function isRefusal(error: unknown, reason: RefusalReason): boolean {
  return error instanceof ReadRefusal && error.reason === reason;
}

export interface OpenFile {
  readonly fd: number;
  readonly stat: Stats;
}

export interface BoundedFile {
  readonly bytes: Buffer;
  /** The state of the file when it was opened. */
  readonly stat: Stats;
}

/** Reads the whole file. A link as the last component is refused; null: there is no such file. */
export function readBounded(path: string | Buffer, maxBytes: number): BoundedFile | null {
  return readOpen(openRegular(path), maxBytes);
}

/** Like `readBounded`, by a path in a folder, no component of which may be a link. */
export function readBoundedBelow(root: Anchor, path: string, maxBytes: number): BoundedFile | null {
  return readOpen(openRegularBelow(root, path.split('/')), maxBytes);
}

/** Like `readBounded`, by an absolute path, no component of which may be a link. */
export function readBoundedReal(path: string, maxBytes: number): BoundedFile | null {
  return within(Anchor.open('/'), (root) => readBoundedBelow(root, path.slice(1), maxBytes));
}

/** Follows no link, does not wait for the writer of a FIFO. */
export const readOnly = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** The caller closes the file. Null: there is no such file. */
export function openRegular(path: string | Buffer): OpenFile | null {
  const fd = openEntry(path, readOnly, ['ELOOP']);
  if (fd === null) return null;
  const stat = fstatSync(fd);
  if (stat.isFile()) return { fd, stat };
  closeSync(fd);
  throw new ReadRefusal('not_regular');
}

/** Opens the folders of the path one after another, so that no link is followed; `root` stays open. */
export function openRegularBelow(root: Anchor, [name, ...rest]: readonly Name[]): OpenFile | null {
  if (rest.length === 0) return openRegular(root.at(name!));
  // Without O_RDONLY: a parent that may be searched need not be readable.
  const folderOnly = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const fd = openEntry(root.at(name!), folderOnly, ['ELOOP', 'ENOTDIR']);
  return fd === null ? null : within(Anchor.of(fd), (folder) => openRegularBelow(folder, rest));
}

function openEntry(path: string | Buffer, flags: number, linkCodes: readonly string[]): number | null {
  try {
    return openSync(path, flags);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    if (linkCodes.some((code) => isErrno(error, code))) throw new ReadRefusal('link', error);
    // Opening a socket fails with ENXIO.
    if (isErrno(error, 'ENXIO')) throw new ReadRefusal('not_regular', error);
    throw error;
  }
}

function readOpen(file: OpenFile | null, maxBytes: number): BoundedFile | null {
  if (file === null) return null;
  try {
    const bytes = readUpTo(file.fd, maxBytes + 1);
    if (bytes.length > maxBytes) throw new ReadRefusal('too_large');
    return { bytes, stat: file.stat };
  } finally {
    closeSync(file.fd);
  }
}

const chunkBytes = 64 * 1024;
/**
 * One buffer for all reads: most files are far shorter, and allocating one for each would take longer than the read.
 */
const chunk = Buffer.allocUnsafeSlow(chunkBytes);

/** The next bytes of an open file, at most `maxBytes`, even if the file grows meanwhile. */
export function readUpTo(fd: number, maxBytes: number): Buffer {
  const chunks: Buffer[] = [];
  for (let left = maxBytes; left > 0; ) {
    const read = readSync(fd, chunk, 0, Math.min(chunkBytes, left), null);
    if (read === 0) break;
    chunks.push(Buffer.from(chunk.subarray(0, read)));
    left -= read;
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}
