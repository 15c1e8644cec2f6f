import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type MemoryPackage, packageFolderName } from '../model/package.ts';

/** The folder of a package below the home. Null: the package is not installed. */
export function installedAt(home: string, what: MemoryPackage): string | null {
  const folder = join(home, 'packages', packageFolderName(what));
  return existsSync(join(folder, 'node_modules')) ? folder : null;
}
