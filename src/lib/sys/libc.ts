/** The C library, the class of its errors, and the check of every call. */
import { constants as os } from 'node:os';
import koffi from 'koffi';

const library = koffi.load(null);

/** Finds a function of the C library by its prototype. */
export function libc(prototype: string) {
  return library.func(prototype);
}

/** The error number of the last call. */
export function errno(): number {
  return koffi.errno();
}

export class SysError extends Error {
  readonly code: string;
  constructor(call: string, number: number) {
    const code = errnoName(number);
    super(`${call}: ${code}`);
    this.code = code;
  }
}

function errnoName(number: number): string {
  const found = Object.entries(os.errno).find(([, value]) => value === number);
  return found ? found[0] : `E${number}`;
}

export function checked(call: string, result: number): number {
  if (result < 0) throw new SysError(call, errno());
  return result;
}

export const AT_FDCWD = -100;
export const AT_EMPTY_PATH = 0x1000;
