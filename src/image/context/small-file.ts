/** Small files of a project that say something about it: never through a link, never more than expected. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
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
    if (!fstatSync(fd).isFile()) throw notPlain(path);
    const bytes = readAtMost(fd, maxBytes + 1);
    if (bytes.length > maxBytes) throw new Fault('invalid', `${path} is larger than ${formatSize(maxBytes)}`);
    return bytes;
  } finally {
    closeSync(fd);
  }
}

const pieceBytes = 64 * 1024;

/** By what is read, not by the size that the file shows: it may grow meanwhile. */
function readAtMost(fd: number, maxBytes: number): Buffer {
  const pieces: Buffer[] = [];
  for (let left = maxBytes; left > 0; ) {
    const piece = Buffer.alloc(Math.min(left, pieceBytes));
    const count = readSync(fd, piece);
    if (count === 0) break;
    pieces.push(piece.subarray(0, count));
    left -= count;
  }
  return Buffer.concat(pieces);
}

function notPlain(path: string): Fault {
  return new Fault('denied', `${path} of the project is not a plain file in plain folders`, {
    hint: 'A link may lead anywhere: put the file itself there.',
  });
}
