import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of this package. We may be a file of the build, a part of a larger one, or the sources. */
export const packageFolder = folderAbove(import.meta.dirname);

/** What was built. */
export const dist = join(packageFolder, 'dist');

export function packageVersion(): string {
  const text = readFileSync(join(packageFolder, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

function folderAbove(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : folderAbove(dirname(folder));
}
