/** Reads the value of a secret from a file or stdin, never from argv, which all users of the machine can read. */
import { closeSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { readUpTo } from '../../../lib/file/bounded-read.ts';
import { firstBytes } from '../../../lib/process/collect.ts';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import { maxSecretBytes } from '../model.ts';

/** One byte more than a value may have, so that a longer value is noticed, and one for the newline that is removed. */
const enoughBytes = maxSecretBytes + 2;

/** The bytes of the file, unchanged. */
export function secretFromFile(path: string): Buffer {
  try {
    const file = openSync(path, 'r');
    try {
      return readUpTo(file, enoughBytes);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw unreadable(error, path);
  }
}

/** The bytes of stdin without one newline at the end, which `echo` adds. */
export async function secretFromStdin(stdin: Readable): Promise<Buffer> {
  return withoutNewline(await firstBytes(stdin, enoughBytes));
}

export function withoutNewline(value: Buffer): Buffer {
  return value.at(-1) === 0x0a ? value.subarray(0, -1) : value;
}

function unreadable(error: unknown, path: string): Fault {
  const { code, message } = error as NodeJS.ErrnoException;
  const what = `--file: ${printable(path)}`;
  if (code === 'ENOENT') return new Fault('not_found', `${what} does not exist`, { cause: error });
  if (code === 'EACCES') return new Fault('denied', `${what} cannot be read: permission denied`, { cause: error });
  return new Fault('invalid', `${what} cannot be read: ${message}`, { cause: error });
}
