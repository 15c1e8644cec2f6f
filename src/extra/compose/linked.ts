/** The shared libraries of programs of this machine. */
import { run } from '../../lib/process/run.ts';
import { Fault } from '../../model/fault.ts';

export interface Linked {
  /** The program that loads them; null: the program is static. */
  readonly loader: string | null;
  readonly libraries: readonly string[];
  /** Names of libraries that are not installed. */
  readonly missing: readonly string[];
}

/** `stdout` is the output of ldd. */
export function parseLinked(stdout: string): Linked {
  const all = (pattern: RegExp) => [...stdout.matchAll(pattern)].map(([, found]) => found!);
  const [loader = null] = all(/^\s*(\/\S+) \(/gm);
  return { loader, libraries: all(/^\s*\S+ => (\/\S+)/gm), missing: all(/^\s*(\S+) => not found/gm) };
}

export async function linkedOf(program: string): Promise<Linked> {
  const { stdout } = await run(['ldd', program]);
  return parseLinked(stdout);
}

/** Refuses a program that could not start. */
export async function requireLibraries(program: string): Promise<Linked> {
  const linked = await linkedOf(program);
  if (linked.missing.length === 0) return linked;
  throw new Fault('unsupported', `${program} needs ${linked.missing.join(', ')}, which is not installed`);
}
