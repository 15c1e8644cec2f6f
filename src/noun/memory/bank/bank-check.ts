/** Checks of calls to a bank, and the Faults with which they are refused. */

import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import { formatSize } from '../../../model/size.ts';
import { type BankLimits, type BankLock, type BankWriter, writerText } from '../model/bank.ts';
import type { Expected } from './bank.ts';
import { type FileState, writerKey } from './history/history.ts';

export function isSame(one: BankWriter, other: BankWriter): boolean {
  return writerKey(one) === writerKey(other);
}

/** False: the same writer has written the same content before, as a repeated request does. */
export function checkExpected(
  path: string,
  state: FileState | null,
  expected: Expected,
  hash: string,
  isOwn: boolean,
): boolean {
  const version = state === null || state.hash === null ? 0 : state.version;
  if (expected === 'any') return true;
  if (isOwn && state?.hash === hash) return false;
  if (expected === 'present') {
    if (version > 0) return true;
    throw noFile(path);
  }
  if (version === (expected === 'absent' ? 0 : expected)) return true;
  const message =
    expected === 'absent' || expected === 0
      ? `${printable(path)} exists already`
      : `${printable(path)} is at version ${version}, not at ${expected}`;
  throw new Fault('conflict', message, {
    hint: 'Read it, then update it with expectedVersion.',
    data: { version },
  });
}

export function noFile(path: string): Fault {
  return new Fault('not_found', `the memory bank has no file ${printable(path)}`);
}

export function noVersion(path: string, version: number): Fault {
  return new Fault('not_found', `${printable(path)} has no version ${version}`, {
    hint: `See: carrel memory bank log ${printable(path)}`,
  });
}

export function tooLarge(path: string, bytes: number, { fileBytes }: BankLimits): Fault {
  const most = formatSize(fileBytes);
  return new Fault(
    'exhausted',
    `${printable(path)} has ${formatSize(bytes)}: a file of the memory bank has at most ${most}`,
  );
}

export function tooMany({ files }: BankLimits): Fault {
  return new Fault('exhausted', `the memory bank has at most ${files} files`);
}

export function beingWritten(path: string): Fault {
  return new Fault('conflict', `${printable(path)} is being written by plain file access`, { hint: 'Try again.' });
}

/** Throws if another writer has locked the file. */
export function requireUnlocked(locks: readonly BankLock[], path: string, by: BankWriter): void {
  const held = locks.find((one) => one.path === path && !isSame(one.by, by));
  if (held === undefined) return;
  throw new Fault('conflict', `${printable(path)} is locked by ${writerText(held.by)} until ${held.until}`, {
    hint: 'Try again after that.',
    data: { until: held.until },
  });
}
