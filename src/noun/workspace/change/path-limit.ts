/** The agent controls the number and the length of changed paths, so the memory for them has a limit. */
import type { BytePath } from '../../../model/byte-path.ts';
import { Fault } from '../../../model/fault.ts';

const maxPaths = 1_000_000;
const maxBytes = 256 * 1024 * 1024;

/** The caller passes each path that it keeps. */
export function pathLimit(): (path: BytePath) => void {
  let [paths, bytes] = [0, 0];
  return (path) => {
    paths += 1;
    bytes += path.length;
    if (paths <= maxPaths && bytes <= maxBytes) return;
    throw new Fault('exhausted', `more than ${paths - 1} paths differ from the base, too many to list`, {
      hint: 'Remove generated files inside the sandbox, or discard the folder that holds them.',
    });
  };
}
