/**
 * Files of the project, for the hub: reading, writing, removing and renaming here, lists in `list.ts`, text search in `search.ts`.
 * `path.ts` resolves each path below the project and follows no link out of it. Writes are atomic: a temporary name in the same
 * folder, fsync, rename. `document.ts` reads a file as language servers see it.
 */
import { randomBytes } from 'node:crypto';
import { fsyncSync, linkSync, readdirSync, renameSync, rmdirSync, rmSync, type Stats, unlinkSync } from 'node:fs';
import type { Anchor } from '../../../../lib/file/anchor.ts';
import { isRefusal, readBounded } from '../../../../lib/file/bounded-read.ts';
import { isErrno } from '../../../../lib/file/file.ts';
import { makeFile } from '../../../../lib/file/make-file.ts';
import { linesOf, textOf } from '../../../../lib/text/text.ts';
import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import {
  type ChangedPaths,
  maxFileBytes,
  maxReadBytes,
  type ReadFile,
  type ReadResult,
  type RemoveFile,
  type RenameFile,
  type WriteFile,
  type WriteResult,
} from '../../model/spoke.ts';
import { bytesOf, edited, hashOf, tooLarge } from './content.ts';
import { type ResolvedPath, withResolvedPath } from './path.ts';

export function readFile(root: string, request: ReadFile): ReadResult {
  return withResolvedPath(root, request.path, { follow: true }, (resolved) =>
    readResult(resolved.path, bytesAt(resolved), request),
  );
}

export function bytesAt(resolved: ResolvedPath): Buffer {
  const found = contentAt(resolved);
  if (found === null) throw missing(resolved.path);
  return found.bytes;
}

function readResult(path: string, bytes: Buffer, { startLine, endLine }: ReadFile): ReadResult {
  const common = { path, sizeBytes: bytes.length, hash: hashOf(bytes) };
  const text = textOf(bytes);
  if (text === null) {
    const part = bytes.subarray(0, maxReadBytes);
    const truncated = part.length < bytes.length;
    return { ...common, encoding: 'base64', content: part.toString('base64'), lines: null, truncated };
  }
  const lines = linesOf(text);
  const wanted = lines.slice((startLine ?? 1) - 1, endLine ?? lines.length);
  const content = bounded(wanted);
  const truncated = content.length < wanted.reduce((sum, line) => sum + line.length, 0);
  return { ...common, encoding: 'utf-8', content, lines: lines.length, truncated };
}

/** Whole lines up to the limit, or the start of the first line if that one is longer. */
function bounded(lines: readonly string[]): string {
  const kept: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    bytes += Buffer.byteLength(line);
    if (bytes > maxReadBytes) return kept.length > 0 ? kept.join('') : line.slice(0, maxReadBytes / 4);
    kept.push(line);
  }
  return kept.join('');
}

interface Found {
  readonly bytes: Buffer;
  readonly stat: Stats;
}

/** Null: there is none. */
function contentAt({ folder, name, path }: ResolvedPath): Found | null {
  if (name === '') throw notFile(path);
  try {
    return readBounded(folder.at(name), maxFileBytes);
  } catch (error) {
    if (isRefusal(error, 'too_large')) throw tooLarge(path);
    if (isRefusal(error, 'not_regular') || isErrno(error, 'EISDIR')) throw notFile(path);
    if (isRefusal(error, 'link')) throw new Fault('conflict', `${printable(path)} became a link meanwhile`);
    throw error;
  }
}

/** Creates missing folders on the path, too. */
export function writeFile(root: string, request: WriteFile): WriteResult {
  const makeFolders = request.content !== undefined && !request.dryRun;
  return withResolvedPath(root, request.path, { follow: true, makeFolders }, (resolved) => {
    const found = contentAt(resolved);
    checkExpected(resolved.path, found, request);
    const bytes = newBytes(resolved.path, found, request);
    if (bytes.length > maxFileBytes) throw tooLarge(resolved.path);
    if (!request.dryRun) replace(resolved, bytes, found);
    const created = found === null;
    return { path: resolved.path, hash: hashOf(bytes), sizeBytes: bytes.length, created, dryRun: request.dryRun };
  });
}

function checkExpected(path: string, found: Found | null, { isNew, expectedHash }: WriteFile): void {
  if (isNew && found !== null) throw new Fault('conflict', `${printable(path)} exists already`);
  if (expectedHash === undefined) return;
  if (found !== null && hashOf(found.bytes) === expectedHash) return;
  throw new Fault('conflict', `${printable(path)} is not as it was when it was read`, { hint: 'Read it again.' });
}

function newBytes(path: string, found: Found | null, { content, edits }: WriteFile): Buffer {
  if (content !== undefined) return bytesOf(content);
  if (found === null) throw missing(path);
  const text = textOf(found.bytes);
  if (text === null) throw new Fault('invalid', `${printable(path)} is not text, so it cannot be edited`);
  return Buffer.from(edited(text, edits ?? [], path));
}

/** Fails if the file is not the one that was read, for example because the agent writes at the same time. */
function replace({ folder, name, path }: ResolvedPath, bytes: Buffer, found: Found | null): void {
  const temporary = `.carrel-${randomBytes(6).toString('hex')}`;
  makeFile(folder.at(temporary), { bytes, mode: (found?.stat.mode ?? 0o644) & 0o777 });
  try {
    if (found === null) linkSync(folder.at(temporary), folder.at(name));
    else {
      if (!isSame(folder, name, found.stat)) throw changed(path);
      renameSync(folder.at(temporary), folder.at(name));
    }
  } catch (error) {
    throw isErrno(error, 'EEXIST') ? changed(path) : error;
  } finally {
    rmSync(folder.at(temporary), { force: true });
  }
  fsyncSync(folder.fd);
}

function isSame(folder: Anchor, name: string, was: Stats): boolean {
  const now = folder.look(name);
  return now !== null && now.ino === was.ino && now.size === was.size && now.mtimeMs === was.mtimeMs;
}

export function removeFile(root: string, { path, recursive, expectedHash, dryRun }: RemoveFile): ChangedPaths {
  return withResolvedPath(root, path, { follow: false }, (resolved) => {
    const stat = entryAt(resolved);
    if (stat.isDirectory() && !recursive && readdirSync(resolved.folder.at(resolved.name)).length > 0) {
      throw new Fault('conflict', `${printable(path)} is a folder with files in it`, {
        hint: 'Use recursive to remove them.',
      });
    }
    if (expectedHash !== undefined && hashOf(contentAt(resolved)?.bytes ?? Buffer.of()) !== expectedHash)
      throw changed(path);
    if (!dryRun) removeAt(resolved, stat, recursive);
    return { paths: [resolved.path], dryRun };
  });
}

function removeAt({ folder, name }: ResolvedPath, stat: Stats, recursive: boolean): void {
  if (!stat.isDirectory()) unlinkSync(folder.at(name));
  else if (recursive) rmSync(folder.at(name), { recursive: true });
  else rmdirSync(folder.at(name));
}

export function renameFile(root: string, { from, to, overwrite, dryRun }: RenameFile): ChangedPaths {
  return withResolvedPath(root, from, { follow: false }, (source) =>
    withResolvedPath(root, to, { follow: false }, (target) => {
      entryAt(source);
      if (target.name === '') throw notFile(to);
      if (target.folder.look(target.name) !== null && !overwrite) {
        throw new Fault('conflict', `${printable(to)} exists already`, { hint: 'Use overwrite to replace it.' });
      }
      if (!dryRun) renameSync(source.folder.at(source.name), target.folder.at(target.name));
      return { paths: [source.path, target.path], dryRun };
    }),
  );
}

function entryAt({ folder, name, path }: ResolvedPath): Stats {
  if (name === '') throw new Fault('invalid', 'the project itself cannot be removed or renamed');
  const stat = folder.look(name);
  if (stat === null) throw missing(path);
  return stat;
}

function missing(path: string): Fault {
  return new Fault('not_found', `${printable(path)} does not exist`);
}
function notFile(path: string): Fault {
  return new Fault('invalid', `${printable(path) || 'the project'} is not a file`);
}
function changed(path: string): Fault {
  return new Fault('conflict', `${printable(path)} is not as it was when it was read`, { hint: 'Read it again.' });
}
