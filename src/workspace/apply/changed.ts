import { type BytePath, toText } from '../../model/byte-path.ts';
import { Fault } from '../../model/fault.ts';

export function changedMeanwhile(paths: readonly BytePath[]): Fault {
  const shown = paths.slice(0, 10).map(toText).join(', ');
  return new Fault('conflict', `the project changed meanwhile: ${shown}`, {
    hint: 'Nothing was changed. Try again.',
    data: { paths },
  });
}
