import { resolve } from 'node:path';
import { Fault } from '../model/fault.ts';

/** Paths in a workspace as they were typed. An empty one is an unset variable, and must not mean everything. */
export function checkPaths(paths: readonly string[]): string[] {
  if (paths.includes('')) {
    throw new Fault('invalid', 'PATH: the path is empty', { hint: 'Leave it out for everything.' });
  }
  return [...paths];
}

/** The part of a request that says which paths; none are all. */
export function askedPaths(paths: readonly string[]): { paths?: string[] } {
  return paths.length === 0 ? {} : { paths: checkPaths(paths) };
}

/** The daemon has another working folder than the user. An empty path is an unset variable, not the current folder. */
export function absolute(path: string, what: string): string {
  if (path !== '') return resolve(path);
  throw new Fault('invalid', `${what}: the path is empty`, { hint: 'Write . for the current folder.' });
}
