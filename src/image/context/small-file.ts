/** Small files of a project that say something about it: never through a link, never more than expected. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { type Anchor, within } from '../../lib/anchor.ts';
import { isErrno } from '../../lib/file.ts';
import { Fault } from '../../model/fault.ts';
import { formatSize } from '../../model/size.ts';

const readOnly = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Null when it is not there. */
export function readSmall(root: Anchor, path: string, maxBytes: number): Buffer | null {
  try {
    return readBelow(root, path.split('/'), path, maxBytes);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    if (isErrno(error, 'ELOOP') || isErrno(error, 'ENOTDIR')) throw notPlain(path);
    throw error;
  }
}

function readBelow(folder: Anchor, [name, ...rest]: string[], path: string, maxBytes: number): Buffer {
  if (rest.length > 0) return within(folder.enter(name!), (inner) => readBelow(inner, rest, path, maxBytes));
  const fd = openSync(folder.at(name!), readOnly);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw notPlain(path);
    if (stat.size > maxBytes) throw new Fault('invalid', `${path} is larger than ${formatSize(maxBytes)}`);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

function notPlain(path: string): Fault {
  return new Fault('denied', `${path} of the project is not a plain file in plain folders`, {
    hint: 'A link may lead anywhere: put the file itself there.',
  });
}
