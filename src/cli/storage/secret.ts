/** Where the value of a secret comes from: never from argv, which everybody on the machine can read. */
import { closeSync, openSync, readSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import { maxSecretBytes } from '../../model/secret.ts';

/** One byte more than a value may have, so that too much is noticed, and one for a newline that goes. */
const enoughBytes = maxSecretBytes + 2;

/** Every byte of the file. */
export function secretFromFile(path: string): Buffer {
  try {
    const file = openSync(path, 'r');
    try {
      return readStart(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw unreadable(error, path);
  }
}

/** What was piped in, less one newline at its end, which `echo` adds. */
export async function secretFromStdin(stdin: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes >= enoughBytes) break;
  }
  return withoutNewline(Buffer.concat(chunks));
}

export function withoutNewline(value: Buffer): Buffer {
  return value.at(-1) === 0x0a ? value.subarray(0, -1) : value;
}

function readStart(file: number): Buffer {
  const value = Buffer.alloc(enoughBytes);
  let bytes = 0;
  for (let more = -1; more !== 0 && bytes < value.length; bytes += more) {
    more = readSync(file, value, bytes, value.length - bytes, null);
  }
  return value.subarray(0, bytes);
}

function unreadable(error: unknown, path: string): Fault {
  const { code, message } = error as NodeJS.ErrnoException;
  const what = `--file: ${printable(path)}`;
  if (code === 'ENOENT') return new Fault('not_found', `${what} does not exist`, { cause: error });
  if (code === 'EACCES') return new Fault('denied', `${what} is not yours to read`, { cause: error });
  return new Fault('invalid', `${what} cannot be read: ${message}`, { cause: error });
}
