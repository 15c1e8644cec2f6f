/** Where a fleet is declared: a file of whoever asks, in the folder they are in, or one that they name. */
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isErrno } from '../../lib/file.ts';
import { Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import { absolute } from '../paths.ts';

export const fleetFileName = 'carrel.yaml';
const maxBytes = 64 * 1024;

export interface FleetFile {
  /** As it was named, for messages. */
  readonly shown: string;
  /** Its folder is the real one. */
  readonly path: string;
  readonly text: string;
}

/** Accounts that the file may belong to; null: any. */
type Owners = readonly number[] | null;

/** Null: none was named, and there is none here. */
export function openFleetFile(named: string | undefined, owners: Owners = trustedIds()): FleetFile | null {
  const shown = named ?? fleetFileName;
  try {
    const path = absolute(shown, '--file');
    return { shown, path: join(realpathSync(dirname(path)), basename(path)), text: readOwn(path, shown, owners) };
  } catch (error) {
    if (named === undefined && isErrno(error, 'ENOENT')) return null;
    throw unreadable(error, shown);
  }
}

/** One that has to be there. */
export function requireFleetFile(named: string | undefined): FleetFile {
  const found = openFleetFile(named);
  if (found !== null) return found;
  throw new Fault('not_found', `there is no ${fleetFileName} here`, { hint: 'carrel init writes one.' });
}

/** What is checked is what is read: one descriptor, which follows no link at its end and waits for nobody. */
function readOwn(path: string, shown: string, owners: Owners): string {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new Fault('invalid', `${shown} is not a file`);
    if (owners !== null) refuseStranger(stat, shown, owners);
    if (stat.size > maxBytes) throw new Fault('invalid', `${shown} is larger than ${maxBytes} bytes`);
    const bytes = Buffer.alloc(maxBytes + 1);
    const length = readSync(fd, bytes, 0, bytes.length, 0);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, Math.min(length, maxBytes)));
  } finally {
    closeSync(fd);
  }
}

/** In a folder that others can write, a file may be anybody's. */
function refuseStranger(stat: Stats, shown: string, trusted: readonly number[]): void {
  if (!trusted.includes(stat.uid)) {
    throw new Fault('denied', `${shown} belongs to somebody else (uid ${stat.uid})`, {
      hint: 'Look at it, and make it yours with chown, or name a file of your own with --file.',
    });
  }
  if ((stat.mode & 0o002) !== 0) {
    throw new Fault('denied', `${shown} can be written by everybody`, { hint: `chmod o-w ${shown}` });
  }
}

/** Who asks, root, and whoever became root to ask. */
function trustedIds(): number[] {
  const uid = process.getuid?.() ?? 0;
  const before = uid === 0 ? Number(process.env.SUDO_UID ?? 0) : uid;
  return [uid, 0, before];
}

function unreadable(error: unknown, shown: string): unknown {
  const name = printable(shown);
  if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) {
    return new Fault('not_found', `${name} does not exist`, { cause: error, hint: 'carrel init writes one.' });
  }
  if (isErrno(error, 'ELOOP')) {
    return new Fault('denied', `${name} is a link`, { cause: error, hint: 'Name the file it leads to: --file FILE' });
  }
  if (isErrno(error, 'EACCES')) return new Fault('denied', `${name} may not be read`, { cause: error });
  if (isErrno(error, 'ERR_ENCODING_INVALID_ENCODED_DATA')) {
    return new Fault('invalid', `${name} is not text in UTF-8`, { cause: error });
  }
  return error;
}
