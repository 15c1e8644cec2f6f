/** Work that is the same in each place: `inside.py`, run in some folder. */
import { readFileSync } from 'node:fs';
import { output } from './program.ts';

/** Runs a program in one place. Returns its output. */
export type Place = (argv: readonly string[]) => Promise<string>;

/** The PATH of every sandbox, which all places get. */
const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Enough time for a hundred thousand files on a busy machine. */
export const heavyMs = 180_000;

/** The argv to run a program without settings of this machine, as in a sandbox. */
export const cleanly = (...argv: string[]): string[] => [
  ...['env', '-i', path, 'HOME=/nonexistent', 'LANG=C.UTF-8'],
  ...argv,
];

export function onHost(folder: string): Place {
  return (argv) => output(['env', '-C', folder, ...cleanly(...argv)], heavyMs);
}

function insideArgv(...args: string[]): string[] {
  return ['python3', '-c', readFileSync('test/bench/inside.py', 'utf8'), ...args];
}

export async function change(place: Place, verb: 'change' | 'add' | 'ignore', count: number): Promise<void> {
  await place(insideArgv(verb, String(count)));
}

export const timeInside = (place: Place, ...argv: string[]): Promise<number> => timed(place, 'time', ...argv);
export const timeInstall = (place: Place, folder: string): Promise<number> => timed(place, 'install', folder);

async function timed(place: Place, ...args: string[]): Promise<number> {
  return JSON.parse(await place(insideArgv(...args))) as number;
}

/** Milliseconds by the name of the step. */
export type Times = Readonly<Record<string, number>>;

export async function timeSmall(place: Place, count: number): Promise<Times> {
  return JSON.parse(await place(insideArgv('small', String(count)))) as Times;
}

/** Measured as often as small files were made before. */
export async function timeUnlink(place: Place): Promise<Times> {
  return JSON.parse(await place(insideArgv('unlink'))) as Times;
}
