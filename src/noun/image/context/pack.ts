/** Packs files of a project into an archive for a build, and computes the checksum that shows whether they changed. */

import { createHash, type Hash } from 'node:crypto';
import { closeSync, read } from 'node:fs';
import { promisify } from 'node:util';
import type { Anchor } from '../../../lib/file/anchor.ts';
import { type OpenFile, openRegularBelow, ReadRefusal } from '../../../lib/file/bounded-read.ts';
import { isErrno } from '../../../lib/file/file.ts';
import { type BytePath, toBytes, toText } from '../../../model/byte-path.ts';
import { Fault } from '../../../model/fault.ts';
import type { ContextEntry, Extra } from './context.ts';
import { header, padding } from './tar.ts';

const readInto = promisify(read);
const chunkBytes = 256 * 1024;

/** A checksum of names, types, modes and contents. `root` may be null if there are no entries. */
export async function checksumOf(root: Anchor | null, entries: readonly ContextEntry[]): Promise<string> {
  const hash = createHash('sha256');
  for (const entry of entries) {
    note(hash, entry);
    if (entry.kind === 'file') for await (const chunk of contentOf(root!, entry)) hash.update(chunk);
  }
  return hash.digest('hex');
}

/** Fails at its end when the files are no longer those of the checksum. */
export async function* pack(
  root: Anchor | null,
  entries: readonly ContextEntry[],
  extras: readonly Extra[],
  checksum: string,
): AsyncGenerator<Buffer> {
  yield* packExtras(extras);
  const hash = createHash('sha256');
  for (const entry of entries) {
    note(hash, entry);
    yield* header({ ...entry, name: toBytes(entry.path), target: toBytes(entry.target) });
    if (entry.kind !== 'file') continue;
    for await (const chunk of contentOf(root!, entry)) {
      hash.update(chunk);
      yield chunk;
    }
    yield padding(entry.sizeBytes);
  }
  // The engine refuses an archive that lacks its last blocks.
  if (hash.digest('hex') !== checksum) throw changed();
  yield padding(0, 2);
}

/** The beginning of an archive, with the folders of the files. */
export function* packExtras(extras: readonly Extra[]): Generator<Buffer> {
  const target = Buffer.alloc(0);
  for (const folder of new Set(extras.flatMap(({ path }) => foldersOf(path)))) {
    yield* header({ name: Buffer.from(folder), kind: 'folder', mode: 0o755, sizeBytes: 0, target });
  }
  for (const { path, mode, content } of extras) {
    yield* header({ name: Buffer.from(path), kind: 'file', mode, sizeBytes: content.length, target });
    yield content;
    yield padding(content.length);
  }
}

export function foldersOf(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_name, index) => names.slice(0, index + 1).join('/'));
}

function note(hash: Hash, { path, kind, mode, sizeBytes, target }: ContextEntry): void {
  hash.update(JSON.stringify([path, kind, mode, sizeBytes, target]));
}

async function* contentOf(root: Anchor, entry: ContextEntry): AsyncGenerator<Buffer> {
  const { fd, stat } = openBelow(root, entry.path);
  try {
    if (stat.size !== entry.sizeBytes) throw changed(entry.path);
    for (let position = 0; position < entry.sizeBytes; ) {
      const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, entry.sizeBytes - position));
      const { bytesRead } = await readInto(fd, buffer, 0, buffer.length, position);
      if (bytesRead === 0) throw changed(entry.path);
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    closeSync(fd);
  }
}

function openBelow(root: Anchor, path: BytePath): OpenFile {
  try {
    const file = openRegularBelow(root, path.split('/').map(toBytes));
    if (file !== null) return file;
  } catch (error) {
    if (isErrno(error, 'EACCES')) throw new Fault('denied', `${toText(path)} of the project cannot be read`);
    if (!(error instanceof ReadRefusal)) throw error;
  }
  throw changed(path);
}

function changed(path?: BytePath): Fault {
  const what = path === undefined ? 'the project' : `${toText(path)} of the project`;
  return new Fault('conflict', `${what} changed while it was read`, {
    hint: 'Try again when the files of the project do not change.',
  });
}
