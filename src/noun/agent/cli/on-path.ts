import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The real path of a program on this client's PATH, so that the daemon follows no link; null: it is not there. */
export function onPath(program: string): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter).filter((one) => one.startsWith('/'))) {
    try {
      const path = realpathSync(join(folder, program));
      accessSync(path, constants.X_OK);
      if (statSync(path).isFile()) return path;
    } catch {
      // The next folder may have the program, ignoring.
    }
  }
  return null;
}
