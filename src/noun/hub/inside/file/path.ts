/**
 * Paths that a client of the hub names, opened below the project. Links are followed as long as they stay inside; the folder that a path
 * leads to is then entered name by name without following any, so that a link that is put there meanwhile is refused.
 */
import { lstatSync, mkdirSync, readlinkSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { Anchor, within } from '../../../../lib/file/anchor.ts';
import { isErrno } from '../../../../lib/file/file.ts';
import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';

const maxPathBytes = 4096;
const maxNameBytes = 255;
const maxLinks = 40;

/** The names of a path; none for the project itself. */
export function namesOf(path: string): string[] {
  if (Buffer.byteLength(path) > maxPathBytes) throw refused(path, `is longer than ${maxPathBytes} bytes`);
  if (!path.isWellFormed()) throw refused(path, 'is not Unicode');
  if (path.includes('\0')) throw refused(path, 'has a NUL');
  if (path.startsWith('/')) throw refused(path, 'is not relative to the project');
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) throw refused(path, 'leaves the project');
  const long = names.find((name) => Buffer.byteLength(name) > maxNameBytes);
  if (long !== undefined) throw refused(path, `has a name of more than ${maxNameBytes} bytes`);
  return names;
}

export interface ResolvedPath {
  /** The folder that the last name is in. */
  readonly folder: Anchor;
  /** Empty for the project itself. */
  readonly name: string;
  /** From the project, without links. */
  readonly path: string;
}

export interface ResolveOptions {
  /** Whether a link at the last name is followed. */
  readonly follow: boolean;
  /** Makes the folders on the way that are missing. */
  readonly makeFolders?: boolean;
}

/** Calls `work` with the opened folder and the name that a path leads to, and closes the folder. */
export function withResolvedPath<T>(
  root: string,
  path: string,
  options: ResolveOptions,
  work: (resolved: ResolvedPath) => T,
): T {
  const real = realNames(root, path, options.follow);
  const name = real.at(-1) ?? '';
  try {
    return within(enterAll(root, real.slice(0, -1), options.makeFolders ?? false), (folder) =>
      work({ folder, name, path: real.join('/') }),
    );
  } catch (error) {
    throw asRefusal(path, error);
  }
}

function enterAll(root: string, names: readonly string[], make: boolean): Anchor {
  let folder = Anchor.open(root);
  for (const name of names) {
    const above = folder;
    folder = within(above, () => enter(above, name, make));
  }
  return folder;
}

function enter(folder: Anchor, name: string, make: boolean): Anchor {
  try {
    return folder.enter(name);
  } catch (error) {
    if (!make || !isErrno(error, 'ENOENT')) throw error;
  }
  mkdirSync(folder.at(name));
  return folder.enter(name);
}

/** The names of the path after all links are resolved. The last name may be a link if `follow` is false. */
export function realNames(root: string, path: string, follow: boolean): string[] {
  let rest = namesOf(path);
  let real: string[] = [];
  for (let links = 0; rest.length > 0; ) {
    const [name, ...later] = rest as [string, ...string[]];
    rest = later;
    const here = join(root, ...real, name);
    const isLink = statOf(here, path)?.isSymbolicLink() ?? false;
    if (!isLink || (rest.length === 0 && !follow)) {
      real.push(name);
      continue;
    }
    if (++links > maxLinks) throw refused(path, 'leads through too many links');
    const target = relative(root, join(dirname(here), readlinkSync(here)));
    const absolute = readlinkSync(here).startsWith('/');
    if (absolute || target === '..' || target.startsWith(`..${sep}`))
      throw refused(path, 'is a link out of the project');
    real = [];
    rest = [...target.split(sep).filter((part) => part !== ''), ...rest];
  }
  return real;
}

function statOf(here: string, path: string) {
  try {
    return lstatSync(here, { throwIfNoEntry: false });
  } catch (error) {
    throw asRefusal(path, error);
  }
}

function refused(path: string, why: string): Fault {
  return new Fault('invalid', `${printable(path)} ${why}`, {
    hint: 'Name a path below the project, such as src/main.ts.',
  });
}

export function asRefusal(path: string, error: unknown): unknown {
  const shown = printable(path);
  if (isErrno(error, 'ENOENT')) return new Fault('not_found', `${shown} does not exist`, { cause: error });
  if (isErrno(error, 'ENOTDIR')) return new Fault('invalid', `${shown} is not below a folder`, { cause: error });
  if (isErrno(error, 'ELOOP')) return new Fault('conflict', `${shown} became a link meanwhile`, { cause: error });
  if (isErrno(error, 'EACCES')) return new Fault('denied', `the sandbox may not open ${shown}`, { cause: error });
  if (isErrno(error, 'EROFS')) return new Fault('denied', `${shown} is read-only in the sandbox`, { cause: error });
  if (isErrno(error, 'ENOSPC') || isErrno(error, 'EDQUOT')) {
    return new Fault('exhausted', `there is no space left for ${shown}`, { cause: error });
  }
  return error;
}
