/** Reads small files of a project: never through a link, never more than expected. */
import type { Anchor } from '../../../lib/file/anchor.ts';
import { isRefusal, ReadRefusal, readBoundedBelow } from '../../../lib/file/bounded-read.ts';
import { Fault } from '../../../model/fault.ts';
import { formatSize } from '../../../model/size.ts';

/** Null: the file does not exist. */
export function readSmall(root: Anchor, path: string, maxBytes: number): Buffer | null {
  try {
    return readBoundedBelow(root, path, maxBytes)?.bytes ?? null;
  } catch (error) {
    if (isRefusal(error, 'too_large')) throw new Fault('invalid', `${path} is larger than ${formatSize(maxBytes)}`);
    throw error instanceof ReadRefusal ? notPlain(path) : error;
  }
}

function notPlain(path: string): Fault {
  return new Fault('denied', `${path} of the project is not a plain file in plain folders`, {
    hint: 'A link may lead anywhere: put the file itself there.',
  });
}
