/**
 * Folders and files that only this account can have created. No link is followed; an entry that belongs to another
 * account, is open to others or is not a plain file is refused with its name and a hint.
 */
import { fstatSync, fsyncSync, mkdirSync, renameSync, type Stats, unlinkSync } from 'node:fs';
import { type Anchor, type Name, within } from '../../../lib/file/anchor.ts';
import { isRefusal, ReadRefusal, readBounded } from '../../../lib/file/bounded-read.ts';
import { isErrno } from '../../../lib/file/file.ts';
import { makeFile, type NewFileContent } from '../../../lib/file/make-file.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import { maxSecretBytes } from '../model.ts';

/** Opens a folder in another one. Null: it does not exist. */
export type Enter = (above: Anchor, name: string) => Anchor | null;

export const enterPrivate: Enter = (above, name) => {
  const folder = enterFolder(above, name);
  if (folder === null) return null;
  const objection = notPrivate(fstatSync(folder.fd));
  if (objection === null) return folder;
  folder.close();
  throw refused(name, objection);
};

export function makePrivate(above: Anchor, name: string): Anchor {
  makeFolder(above, name);
  return enterPrivate(above, name)!;
}

/** Opens a folder of any owner: for folders inside a private one. */
export function enterFolder(above: Anchor, name: string): Anchor | null {
  try {
    return above.enter(name);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    if (isErrno(error, 'ELOOP') || isErrno(error, 'ENOTDIR')) throw refused(name, 'it is not a folder');
    throw error;
  }
}

export function makeFolder(above: Anchor, name: string): void {
  try {
    mkdirSync(above.at(name), { mode: 0o700 });
    fsyncSync(above.fd);
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  }
}

export function inside<T>(folder: Anchor | null, work: (folder: Anchor) => T): T | null {
  return folder === null ? null : within(folder, work);
}

/** Null: the file does not exist. */
export function lookAtFile(folder: Anchor, name: string): Stats | null {
  const stat = folder.look(name);
  if (stat !== null) checkFile(name, stat);
  return stat;
}

export function readPrivate(folder: Anchor, name: string): Buffer | null {
  try {
    const file = readBounded(folder.at(name), maxSecretBytes);
    if (file !== null) checkFile(name, file.stat);
    return file?.bytes ?? null;
  } catch (error) {
    if (isRefusal(error, 'too_large')) throw refused(name, `it is larger than ${maxSecretBytes} bytes`);
    throw error instanceof ReadRefusal ? refused(name, notPlain) : error;
  }
}

/** No secret and no sandbox can have this name. */
const unfinished = '.new';

/**
 * Replaces a file: after a crash it has the old or the new content, never a part. The content is written in `staging`,
 * a folder of the same filesystem, so that readers of `folder` never see a part of it.
 */
export function putWhole(staging: Anchor, folder: Anchor, name: string, content: NewFileContent): void {
  dropUnfinished(staging);
  try {
    makeFile(staging.at(unfinished), content);
    crashPoint('secret:written');
    renameSync(staging.at(unfinished), folder.at(name));
  } catch (error) {
    dropUnfinished(staging);
    throw error;
  }
  fsyncSync(folder.fd);
}

export function dropUnfinished(staging: Anchor): void {
  dropFile(staging, unfinished);
}

/** False: the file did not exist. */
export function dropFile(folder: Anchor, name: Name): boolean {
  try {
    unlinkSync(folder.at(name));
    return true;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false;
    throw error;
  }
}

function checkFile(name: string, stat: Stats): void {
  const objection = stat.isFile() ? notPrivate(stat) : notPlain;
  if (objection !== null) throw refused(name, objection);
}

export const notPlain = 'it is not a plain file';

export function isOwn({ uid }: Stats): boolean {
  return uid === process.getuid?.();
}

function notPrivate(stat: Stats): string | null {
  if (!isOwn(stat)) return 'it belongs to another account';
  return (stat.mode & 0o077) === 0 ? null : 'others have permissions on it';
}

export function refused(name: string, objection: string): Fault {
  return new Fault('denied', `${printable(name)} is not used for secrets: ${objection}`, {
    hint: 'Remove it, or make it private to the account that runs the daemon: folders 0700, files 0600.',
  });
}
