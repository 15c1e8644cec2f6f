/**
 * A position in a tree that others may be changing. Going down never passes through a symbolic link. Only the last few
 * folders stay open, so trees may be deeper than we may have descriptors; going back up to one that was closed opens it
 * again from the root, name by name.
 */
import { type BigIntStats, lstatSync, readlinkSync } from 'node:fs';
import { Anchor } from '../lib/anchor.ts';
import { isErrno } from '../lib/file.ts';
import type { BytePath } from '../model/byte-path.ts';
import type { Entry, EntryType } from '../model/change.ts';

const openAtMost = 64;

export class Cursor {
  private readonly root: Anchor;
  private readonly names: BytePath[] = [];
  /** The last ones of `names`, in their order. Null: it was gone when it was to be opened again. */
  private readonly opened: (Anchor | null)[] = [];
  /** Something was not there any more when it was to be opened. */
  lostTrack = false;

  constructor(path: string) {
    this.root = Anchor.open(path);
  }

  /** Null: the folder we were in is no longer where it was. */
  get here(): Anchor | null {
    return this.names.length === 0 ? this.root : this.opened.at(-1)!;
  }

  /** False where that is no folder, or none any more. */
  down(name: BytePath): boolean {
    const folder = this.here === null ? null : this.enter(this.here, name);
    if (folder === null) return false;
    this.names.push(name);
    this.opened.push(folder);
    if (this.opened.length > openAtMost) this.opened.shift()?.close();
    return true;
  }

  up(): void {
    this.names.pop();
    this.opened.pop()?.close();
    if (this.names.length > 0 && this.opened.length === 0) this.reopen();
  }

  /** More than the one folder that is needed now: the way up may be long. */
  private reopen(): void {
    let folder: Anchor | null = this.root;
    for (const [index, name] of this.names.entries()) {
      const next: Anchor | null = folder === null ? null : this.enter(folder, name);
      if (folder !== this.root && !this.opened.includes(folder)) folder?.close();
      if (this.names.length - index <= openAtMost / 2) this.opened.push(next);
      folder = next;
    }
  }

  private enter(from: Anchor, name: BytePath): Anchor | null {
    const folder = unlessGone(() => from.enter(Buffer.from(name, 'latin1')));
    if (folder === null) this.lostTrack = true;
    return folder;
  }

  close(): void {
    for (const folder of this.opened) folder?.close();
    this.root.close();
  }
}

const goneErrors = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'ESTALE'];

/** What vanished, or was swapped for something else, between seeing and opening it is null. */
export function unlessGone<T>(look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    if (goneErrors.some((code) => isErrno(error, code))) return null;
    throw error;
  }
}

export function look(folder: Anchor, name: BytePath): BigIntStats | null {
  return lstatSync(folder.locate(name), { bigint: true, throwIfNoEntry: false }) ?? null;
}

/** Null: it is no longer what it was. */
export function entryAt(folder: Anchor, name: BytePath, stat: BigIntStats): Entry | null {
  const type = typeOf(stat);
  if (type !== 'link') return entryOf(type, stat);
  const target = readLink(folder, name);
  return target === null ? null : { type, mode: 0, sizeBytes: 0, target };
}

export function typeOf(stat: BigIntStats): EntryType {
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'folder';
  if (stat.isSymbolicLink()) return 'link';
  if (stat.isFIFO()) return 'fifo';
  return stat.isSocket() ? 'socket' : 'device';
}

function entryOf(type: EntryType, stat: BigIntStats): Entry {
  const sizeBytes = type === 'file' ? Number(stat.size) : 0;
  return { type, mode: Number(stat.mode & 0o777n), sizeBytes, target: null };
}

function readLink(folder: Anchor, name: BytePath): BytePath | null {
  try {
    return readlinkSync(folder.locate(name), 'latin1');
  } catch (error) {
    // EINVAL: a link no more.
    if (isErrno(error, 'ENOENT') || isErrno(error, 'EINVAL')) return null;
    throw error;
  }
}
