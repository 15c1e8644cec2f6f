import { type BytePath, toText } from '../../model/byte-path.ts';
import { Fault, isFault } from '../../model/fault.ts';

const words = 'the project changed meanwhile';

export function changedMeanwhile(paths: readonly BytePath[]): Fault {
  const shown = paths.slice(0, 10).map(toText).join(', ');
  return new Fault('conflict', `${words}: ${shown}`, {
    hint: 'Nothing was changed. Try again.',
    data: { paths },
  });
}

/** Nothing was changed, because the project moved between the look and the deed: what is there now may go together. */
export function hasMoved(error: unknown): boolean {
  return isFault(error, 'conflict') && error.message.startsWith(words) && !('left' in (error.data ?? {}));
}
