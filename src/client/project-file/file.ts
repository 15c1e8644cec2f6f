/** Finds carrel.yaml: in the current directory, or the file named by the user. */
import { realpathSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isRefusal, readBounded } from '../../lib/file/bounded-read.ts';
import { isErrno } from '../../lib/file/file.ts';
import { Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import { absolute } from '../paths.ts';

export const fleetFileName = 'carrel.yaml';
const maxBytes = 64 * 1024;

export interface FleetFilePath {
  /** The path as the user typed it, for messages. */
  readonly shown: string;
  /** Absolute, with links in its folder resolved. */
  readonly path: string;
  readonly text: string;
}

/** The accounts that may own the file; null: any. */
type Owners = readonly number[] | null;

/** Null: no file was named, and the current folder has none. */
export function openFleetFile(named: string | undefined, owners: Owners = trustedIds()): FleetFilePath | null {
  const shown = named ?? fleetFileName;
  try {
    const path = absolute(shown, '--file');
    const text = readOwn(path, shown, owners);
    if (text !== null) return { shown, path: join(realpathSync(dirname(path)), basename(path)), text };
  } catch (error) {
    throw unreadable(error, shown);
  }
  if (named === undefined) return null;
  throw absent(shown);
}

/** Like `openFleetFile`, but the file has to exist. */
export function requireFleetFile(named: string | undefined): FleetFilePath {
  const found = openFleetFile(named);
  if (found !== null) return found;
  throw new Fault('not_found', `there is no ${fleetFileName} here`, { hint: 'carrel init writes one.' });
}

/** Null: the file does not exist. Owner and mode are checked on the open file that is read. */
function readOwn(path: string, shown: string, owners: Owners): string | null {
  const file = readBounded(path, maxBytes);
  if (file === null) return null;
  if (owners !== null) refuseStranger(file.stat, shown, owners);
  return new TextDecoder('utf-8', { fatal: true }).decode(file.bytes);
}

/** In a folder that others can write, another account may have put the file there. */
function refuseStranger(stat: Stats, shown: string, trusted: readonly number[]): void {
  if (!trusted.includes(stat.uid)) {
    throw new Fault('denied', `${shown} belongs to another account (uid ${stat.uid})`, {
      hint: 'Look at it, and make it yours with chown, or name a file of your own with --file.',
    });
  }
  if ((stat.mode & 0o002) !== 0) {
    throw new Fault('denied', `${shown} can be written by all accounts`, { hint: `chmod o-w ${shown}` });
  }
}

/** The ids of the user, of root, and of the account that called sudo. */
function trustedIds(): number[] {
  const uid = process.getuid?.() ?? 0;
  const before = uid === 0 ? Number(process.env.SUDO_UID ?? 0) : uid;
  return [uid, 0, before];
}

function absent(shown: string, cause?: unknown): Fault {
  return new Fault('not_found', `${printable(shown)} does not exist`, {
    cause,
    hint: 'Name a directory with a carrel.yaml, or the file; carrel init writes one.',
  });
}

function unreadable(cause: unknown, shown: string): unknown {
  const name = printable(shown);
  if (isErrno(cause, 'ENOTDIR')) return absent(shown, cause);
  if (isRefusal(cause, 'link')) {
    return new Fault('denied', `${name} is a link`, { cause, hint: 'Name the file it leads to: --file FILE' });
  }
  if (isRefusal(cause, 'not_regular')) return new Fault('invalid', `${name} is not a file`, { cause });
  if (isRefusal(cause, 'too_large')) {
    return new Fault('invalid', `${name} is larger than ${maxBytes} bytes`, { cause });
  }
  if (isErrno(cause, 'EACCES')) return new Fault('denied', `${name} may not be read`, { cause });
  if (isErrno(cause, 'ERR_ENCODING_INVALID_ENCODED_DATA')) {
    return new Fault('invalid', `${name} is not text in UTF-8`, { cause });
  }
  return cause;
}
