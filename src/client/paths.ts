import { realpathSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { Fault } from '../model/fault.ts';
import { printable } from '../model/name.ts';
import { parsePathspec, pathspecText } from '../model/pathspec.ts';
import type { Client } from './client.ts';
import { naming } from './option.ts';

/** Checks typed paths. An empty path usually comes from an unset variable, and must not mean everything. */
export function checkPaths(paths: readonly string[]): string[] {
  if (paths.includes('')) {
    throw new Fault('invalid', 'PATH: the path is empty', { hint: 'Leave it out for everything.' });
  }
  return [...paths];
}

/** The paths of a request; none means all. As in git, they are relative to the current folder. */
export async function pathFields(
  client: Client,
  name: string,
  typed: readonly string[],
): Promise<{ paths?: string[] }> {
  const paths = checkPaths(typed);
  if (paths.length === 0) return {};
  const { project } = await client.call('GET /v1/sandboxes/{name}', { path: { name } });
  return {
    paths: project === null ? paths : paths.map((path) => specInProject(path, project, realpathSync(process.cwd()))),
  };
}

/** The same for a review, which leaves out what git ignores unless `ignored` is set. */
export async function reviewFields(
  client: Client,
  name: string,
  typed: readonly string[],
  { ignored }: { readonly ignored?: boolean },
): Promise<{ paths?: string[]; ignored?: boolean }> {
  return { ...(await pathFields(client, name, typed)), ...(ignored ? { ignored } : {}) };
}

/** A pathspec of git, relative to the project. */
export function specInProject(text: string, project: string, folder: string): string {
  const { words, path } = naming('PATH', () => parsePathspec(text));
  if (words.includes('top')) return pathspecText({ words: words.filter((word) => word !== 'top'), path: path || '.' });
  return pathspecText({ words, path: inProject(path, project, folder) });
}

/** Makes a path relative to the project. Outside of the project a relative path counts from the project's root. */
export function inProject(path: string, project: string, folder: string): string {
  const here = relative(project, folder);
  if (isOutside(here) && !isAbsolute(path)) return path;
  if (path === '/workspace' || path.startsWith('/workspace/')) return path;
  const found = isAbsolute(path) ? relative(project, path) : join(here, path);
  if (!isOutside(found)) return found === '' ? '.' : found;
  throw new Fault('invalid', `${printable(path)} is outside of the project ${printable(project)}`, {
    hint: 'Paths start at the current folder, as in git.',
  });
}

function isOutside(path: string): boolean {
  return path === '..' || path.startsWith('../');
}

/**
 * The daemon has another working folder, so it gets absolute paths. An empty path, such as an unset variable, is
 * refused.
 */
export function absolute(path: string, what: string): string {
  if (path !== '') return resolve(path);
  throw new Fault('invalid', `${what}: the path is empty`, { hint: 'Write . for the current folder.' });
}
