/** Keys in files that only this account can read. */
import { Fault } from '../../model/fault.ts';
import { type BoundedFile, readBounded } from './bounded-read.ts';

const maxKeyBytes = 64 * 1024;

/**
 * Null: the file does not exist. A file that others can read, or that is not a regular file, is refused; the hint says
 * what removing it means.
 */
export function readKeyFile(path: string, hint: string): Buffer | null {
  const file = read(path, hint);
  if (file === null) return null;
  const { uid, mode } = file.stat;
  if (uid === process.getuid?.() && (mode & 0o077) === 0) return file.bytes;
  throw new Fault('denied', `${path} belongs to another account, or other accounts have permissions on it`, { hint });
}

function read(path: string, hint: string): BoundedFile | null {
  try {
    return readBounded(path, maxKeyBytes);
  } catch (cause) {
    throw new Fault('denied', `${path} cannot be read`, { cause, hint });
  }
}
