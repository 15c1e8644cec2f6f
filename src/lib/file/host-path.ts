/** Paths of the host that users name, resolved without following links that a sandbox could have made. */
import { accessSync, constants, existsSync, lstatSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import { isErrno } from './file.ts';

const maxLinks = 40;

/**
 * Resolves a path to the real path. Links are followed, except those in a folder that a sandbox can write: `open` lists
 * these folders. `checkLink` may refuse others.
 */
export function realHostPath(
  path: string,
  open: readonly string[],
  checkLink: (link: string, stat: Stats) => void = () => {},
): string {
  if (!path.startsWith('/')) throw missing(path);
  let resolved = '/';
  let rest = parts(path);
  for (let links = 0; rest.length > 0; ) {
    const [part, ...later] = rest as [string, ...string[]];
    rest = later;
    const next = part === '..' ? dirname(resolved) : join(resolved, part);
    const stat = lookAt(next, path);
    if (!stat) throw missing(path);
    if (!stat.isSymbolicLink()) {
      resolved = next;
      continue;
    }
    if (open.some((folder) => isInside(next, folder))) throw planted(path, next);
    checkLink(next, stat);
    if (++links > maxLinks) throw missing(path);
    const target = readlinkSync(next);
    if (target.startsWith('/')) resolved = '/';
    rest = [...parts(target), ...rest];
  }
  return resolved;
}

function lookAt(next: string, path: string): Stats | undefined {
  try {
    return lstatSync(next, { throwIfNoEntry: false });
  } catch (error) {
    if (isErrno(error, 'ENOTDIR') || isErrno(error, 'ENAMETOOLONG')) return undefined;
    if (!isErrno(error, 'EACCES')) throw error;
    throw new Fault('denied', `${printable(path)} is in a folder that the daemon may not enter`, {
      hint: 'Name a folder of your own.',
      cause: error,
    });
  }
}

function parts(path: string): string[] {
  return path.split(sep).filter((part) => part !== '' && part !== '.');
}

export function isInside(path: string, folder: string): boolean {
  return `${path}${sep}`.startsWith(folder === sep ? sep : `${folder}${sep}`);
}

function missing(path: string): Fault {
  return new Fault('invalid', `${printable(path)} does not exist`, { hint: 'Check how it is spelled.' });
}

function planted(path: string, link: string): Fault {
  return new Fault(
    'denied',
    `${printable(path)} leads through ${printable(link)}, a link that a sandbox may have made`,
    {
      hint: 'Name the real path.',
    },
  );
}

export interface ProjectRules {
  readonly home: string;
  /** Folders of the host that sandboxes can write. */
  readonly open: readonly string[];
  /** Sockets that give root on the host. */
  readonly sockets: readonly string[];
}

/**
 * The real folder of a project: neither the root of the filesystem, nor a folder around or inside the home of Carrel, nor one
 * with a socket by which a sandbox could control a container engine.
 */
export function projectFolder(path: string, { home, open, sockets }: ProjectRules): string {
  const real = realHostPath(path, open);
  if (!lstatSync(real).isDirectory()) {
    throw new Fault('invalid', `the project ${printable(path)} is not a folder`, { hint: 'Name an existing folder.' });
  }
  const own = realpathSync(home);
  if (real === sep || isInside(real, own) || isInside(own, real)) {
    throw new Fault(
      'invalid',
      `${printable(real)} cannot be a project: it is the root, or contains the home of Carrel or is inside it`,
      {
        hint: 'Name the folder of one project.',
      },
    );
  }
  refuseUnreadable(real);
  refuseSockets(real, sockets);
  return real;
}

function refuseUnreadable(real: string): void {
  try {
    accessSync(real, constants.R_OK | constants.X_OK);
  } catch (cause) {
    const hint = 'Name a folder of your own.';
    throw new Fault('denied', `${printable(real)} cannot be a project: it may not be read`, { hint, cause });
  }
}

/** A bind mount includes the sockets in the folder, and inside the sandbox the account `agent` owns them. */
function refuseSockets(real: string, sockets: readonly string[]): void {
  const held = sockets.find((socket) => existsSync(socket) && isInside(realpathSync(socket), real));
  if (held === undefined) return;
  throw new Fault('denied', `${printable(real)} holds ${printable(held)}, by which a sandbox could become root`, {
    hint: 'Name a folder without the socket of an engine.',
  });
}
