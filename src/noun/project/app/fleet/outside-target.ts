/**
 * Where a path in a folder leads to outside of that folder through links: a project can bring a link to any place.
 * Null: the path stays inside. Nothing outside is read, because the user may not be allowed to read it.
 */
import { readlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isErrno } from '../../../../lib/file/file.ts';
import { isInside } from '../../../../lib/file/host-path.ts';
import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';

/** The same limit as in the kernel. */
const maxLinks = 40;

export function outsideTargetOf(folder: string, path: string): string | null {
  const whole = resolve(folder, path);
  if (!isInside(whole, folder)) return whole;
  const rest = partsOf(whole.slice(folder.length));
  let at = folder;
  for (let links = 0; rest.length > 0; ) {
    const next = join(at, rest.shift()!);
    if (!isInside(next, folder)) return join(next, ...rest);
    const target = linkTarget(next);
    if (target !== null && ++links > maxLinks) throw tooManyLinks(path);
    if (target === null) at = next;
    else if (!target.startsWith('/')) rest.unshift(...partsOf(target));
    else if (!isInside(target, folder)) return join(target, ...rest);
    else {
      at = folder;
      rest.unshift(...partsOf(target.slice(folder.length)));
    }
  }
  return null;
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

/** Null: the path is not a link, or cannot be read and so cannot be used either. */
function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (['EINVAL', 'ENOENT', 'ENOTDIR', 'EACCES'].some((code) => isErrno(error, code))) return null;
    throw error;
  }
}

function tooManyLinks(path: string): Fault {
  return new Fault('invalid', `${printable(path)} leads through too many links`);
}
