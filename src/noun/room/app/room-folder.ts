/** Checks the folder of a room. The daemon writes there with its own rights, so no other account may change it. */
import { mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isErrno } from '../../../lib/file/file.ts';
import { isInside } from '../../../lib/file/host-path.ts';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';

/**
 * Checks that the owner's folder can be a room: it is empty, or a room that existed before. Creates it if only its last
 * name is missing.
 */
export function ownFolder(path: string, home: string): string {
  const folder = join(real(dirname(path)), basename(path));
  if (isInside(folder, home) || isInside(home, folder)) {
    throw new Fault('invalid', `${printable(folder)} cannot be a room: it contains the home of Carrel or is inside it`);
  }
  makePrivate(folder);
  const found = real(folder);
  if (found !== folder) throw new Fault('invalid', `${printable(folder)} is a link`, { hint: `Name ${found}.` });
  refuseForeign(folder);
  const names = readdirSync(folder);
  if (names.length === 0 || names.includes('.carrel')) return folder;
  throw new Fault('conflict', `${printable(folder)} has other files in it`, {
    hint: 'Name an empty folder, or a new one.',
  });
}

function makePrivate(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  }
}

function refuseForeign(folder: string): void {
  const { uid, mode } = statSync(folder);
  if (uid !== process.getuid?.()) {
    throw new Fault('denied', `${printable(folder)} belongs to another account`, {
      hint: 'A room is in a folder of the account that runs the daemon.',
    });
  }
  if ((mode & 0o022) === 0) return;
  throw new Fault('denied', `other accounts can write ${printable(folder)}`, { hint: `chmod go-w ${folder}` });
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!isErrno(error, 'ENOENT') && !isErrno(error, 'ENOTDIR')) throw error;
    throw new Fault('invalid', `${printable(path)} does not exist`, { hint: 'Check how it is spelled.', cause: error });
  }
}
