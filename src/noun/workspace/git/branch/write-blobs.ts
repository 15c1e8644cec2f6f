/** Writes the content of files and links into a repository with one call of git. */
import { createHash } from 'node:crypto';
import { closeSync } from 'node:fs';
import { type BytePath, toBytes, toText } from '../../../../model/byte-path.ts';
import { Fault } from '../../../../model/fault.ts';
import type { Entry } from '../../model/change.ts';
import { type FilePart, isHollow, openContent, readChunk } from '../../tree/content.ts';
import type { ContentSource } from '../../tree/reader.ts';
import { fastImport } from '../fast-import.ts';
import type { Git } from '../git.ts';

export interface BranchChange {
  readonly path: BytePath;
  /** A file or a link; null: it is removed. */
  readonly entry: Entry | null;
  /** The content of a file. */
  readonly content: ContentSource | null;
  /** Hash of the content that a gate checked; null: no gate read it. */
  readonly sha256?: string | null;
}

/** Like `git add`: light compression, no deltas, and large files never whole in memory. */
const settings = ['pack.compression=1', 'fastimport.unpackLimit=1', 'core.bigFileThreshold=4m'].flatMap((one) => [
  '-c',
  one,
]);
const pieceBytes = 512 * 1024;

/** Returns the hash of each, in the same order; empty for a removed path. */
export async function writeBlobs(git: Git, changes: readonly BranchChange[]): Promise<string[]> {
  const printed = await fastImport(git, { settings, instructions: instructions(changes) });
  const oids = printed.split('\n').values();
  return changes.map(({ entry }) => (entry === null ? '' : (oids.next().value ?? '')));
}

function* instructions(changes: readonly BranchChange[]): Generator<Buffer> {
  for (const change of changes) {
    if (change.entry === null) continue;
    yield* blob(change);
    yield Buffer.from('\nget-mark :1\n');
  }
  yield Buffer.from('done\n');
}

function* blob(change: BranchChange): Generator<Buffer> {
  const { path, entry, content } = change;
  const bytes =
    entry!.type === 'link' ? toBytes(entry!.target ?? '') : content?.from === 'bytes' ? content.bytes : null;
  if (bytes !== null) {
    yield head(bytes.length);
    yield Buffer.from(bytes);
    return;
  }
  if (content?.from === 'content' && isHollow(content.content, content.path)) throw hollow(path, entry!.sizeBytes);
  const part = content?.from === 'content' ? openContent(content.content, content.path) : null;
  if (part === null) throw new Fault('conflict', `${toText(path)} was removed while it was being read`);
  try {
    yield head(part.lengthBytes);
    yield* pieces(change, part);
  } finally {
    closeSync(part.fd);
  }
}

function head(sizeBytes: number): Buffer {
  return Buffer.from(`blob\nmark :1\ndata ${sizeBytes}\n`);
}

/** Yields exactly as many bytes as `head` announced, and throws if they are not those that the gate checked. */
function* pieces({ path, sha256 = null }: BranchChange, part: FilePart): Generator<Buffer> {
  const hash = sha256 === null ? null : createHash('sha256');
  for (let position = 0; position < part.lengthBytes; ) {
    const piece = Buffer.allocUnsafe(pieceBytes);
    const bytes = readChunk(part, position, piece);
    if (bytes === 0) throw changing(path);
    hash?.update(piece.subarray(0, bytes));
    yield piece.subarray(0, bytes);
    position += bytes;
  }
  if (hash !== null && hash.digest('hex') !== sha256) throw changing(path);
}

function changing(path: BranchChange['path']): Fault {
  return new Fault('conflict', `${toText(path)} changed in the sandbox while it was being taken`, {
    hint: 'Try again.',
  });
}

function hollow(path: BranchChange['path'], sizeBytes: number): Fault {
  const message = `${toText(path)} is mostly a hole of ${sizeBytes} bytes, and a commit would hold all of it`;
  return new Fault('invalid', message, {
    hint: 'Leave it out by naming the other paths, or apply it without --branch.',
  });
}
