/** Opens a folder of the host for a copy, without following a link that a sandbox may have made. */
import { readlinkSync } from 'node:fs';
import { resolve } from 'node:path';
import { Anchor } from '../../../../lib/file/anchor.ts';
import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';

const maxLinks = 40;

/**
 * Opens the path component by component. It follows a symbolic link only where no sandbox can write: outside of the
 * `writable` folders, which sandboxes have mounted.
 */
export function openHostFolder(path: string, writable: readonly string[]): Anchor {
  let links = 0;
  let folder = Anchor.open('/');
  const parts = split(resolve(path));
  while (parts.length > 0) {
    const part = parts.shift()!;
    const target = linkTarget(folder, part);
    if (target !== null && (++links > maxLinks || isInside(realPath(folder), writable))) {
      folder.close();
      throw unsafeLink(path, part);
    }
    if (target !== null) parts.unshift(...split(target));
    const next = target === null ? step(folder, part, path) : target.startsWith('/') ? Anchor.open('/') : null;
    if (next === null) continue;
    folder.close();
    folder = next;
  }
  return folder;
}

export function isInside(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(folder === '/' ? folder : `${folder}/`));
}

function step(folder: Anchor, part: string, path: string): Anchor {
  try {
    return folder.enter(part);
  } catch (error) {
    folder.close();
    throw unreachable(error, path);
  }
}

function linkTarget(folder: Anchor, part: string): string | null {
  return folder.look(part)?.isSymbolicLink() ? readlinkSync(folder.at(part), 'utf8') : null;
}

function split(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

function realPath(folder: Anchor): string {
  return readlinkSync(`/proc/self/fd/${folder.fd}`);
}

function unsafeLink(path: string, part: string): Fault {
  return new Fault('denied', `${printable(path)}: ${printable(part)} is a symbolic link that a sandbox may have made`, {
    hint: 'Name the place it leads to, if that is what you want.',
  });
}

function unreachable(error: unknown, path: string): Fault {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return new Fault('not_found', `${printable(path)} does not exist`, { cause: error });
  if (code === 'ENOTDIR') return new Fault('invalid', `${printable(path)} is not a folder`, { cause: error });
  if (code === 'EACCES') return new Fault('denied', `${printable(path)} is not accessible`, { cause: error });
  return new Fault('internal', `${printable(path)}: ${message}`, { cause: error });
}
