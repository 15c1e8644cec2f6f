/** What a backup does not contain: sockets and pipes, which are useless later, and paths that are too long. */
import { lstatSync } from 'node:fs';
import { outputOf } from '../../../lib/process/program.ts';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import { maxPathBytes } from './member-rule.ts';

const kinds: Readonly<Record<string, string>> = { s: 'socket', p: 'pipe', b: 'device', c: 'device' };
const maxOutputBytes = 64 * 1024 * 1024;
const shown = 3;

/** A pattern for paths that are too long for one system call, from `.` on. */
export const tooLong = `${'?'.repeat(maxPathBytes + 1)}*`;

/** Returns notes for people. Does not descend below a path that is too long, so that it always ends. */
export async function lookForSpecial(folder: string): Promise<readonly string[]> {
  const special = ['-type', 'p', '-o', '-type', 's', '-o', '-type', 'b', '-o', '-type', 'c', '-o', '-path', tooLong];
  const argv = ['find', '.', '-xdev', '(', ...special, ')', '-printf', '%y%p\\0', '-prune'] as const;
  const output = (await outputOf(argv, folder, maxOutputBytes)).toString('latin1');
  const found = output.split('\0').filter((line) => line !== '');
  refuseDevices(folder, found);
  return notesOn(found);
}

/** Refuses devices, which only root of this machine can create. Whiteouts, which any user can create, are allowed. */
function refuseDevices(folder: string, found: readonly string[]): void {
  const devices = found.filter((line) => /^[bc]/.test(line) && !isTooLong(line)).map((line) => line.slice(1));
  const real = devices.find((path) => {
    const stat = lstatSync(Buffer.from(`${folder}/${path}`, 'latin1'), { throwIfNoEntry: false });
    return stat?.isBlockDevice() || (stat?.isCharacterDevice() && stat.rdev !== 0);
  });
  if (real === undefined) return;
  throw new Fault('invalid', `${printable(real)} is a device, which no backup can hold`, { hint: 'Remove it.' });
}

function isTooLong(line: string): boolean {
  return line.length > maxPathBytes + 1;
}

function notesOn(found: readonly string[]): string[] {
  const byKind = new Map<string, string[]>();
  for (const line of found) {
    const kind = isTooLong(line) ? 'path that is too long' : (kinds[line[0]!] ?? 'entry');
    byKind.set(kind, [...(byKind.get(kind) ?? []), line.slice(1)]);
  }
  return [...byKind].map(([kind, paths]) => noteOn(kind, paths));
}

export function noteOn(kind: string, paths: readonly string[]): string {
  const some = paths.slice(0, shown).map((path) => printable(Buffer.from(path, 'latin1').toString('utf8')));
  return `left out, ${kind}: ${some.join(', ')}${paths.length > shown ? ` and ${paths.length - shown} more` : ''}`;
}
