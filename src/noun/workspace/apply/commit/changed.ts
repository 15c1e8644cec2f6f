import { type BytePath, toText } from '../../../../model/byte-path.ts';
import { Fault, isFault } from '../../../../model/fault.ts';

const words = 'the project changed meanwhile';

export function changedMeanwhile(paths: readonly BytePath[]): Fault {
  const shown = paths.slice(0, 10).map(toText).join(', ');
  return new Fault('conflict', `${words}: ${shown}`, {
    hint: 'Nothing was changed. Try again.',
    data: { paths },
  });
}

/** The project changed between plan and exchange, and nothing was done: a new plan may succeed. */
export function isStalePlan(error: unknown): boolean {
  return isFault(error, 'conflict') && error.message.startsWith(words) && !('left' in (error.data ?? {}));
}
