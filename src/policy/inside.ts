import { realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Whether a path stays inside a folder: as it is written, and by where its links lead now. */
export function isInsidePath(path: string, cwd: string): boolean {
  if (path === '' || path.startsWith('-') || /[\x00-\x1f\x7f]/.test(path) || path.split('/').includes('..'))
    return false;
  try {
    const folder = realpathSync(cwd);
    if (folder === '/') return false;
    return isWithin(resolve(folder, path), folder, cwd) && isWithin(realExisting(resolve(cwd, path)), folder, folder);
  } catch {
    return false;
  }
}

/** An absolute path may name the folder as it was given, too. */
function isWithin(path: string, folder: string, given: string): boolean {
  return [folder, resolve(given)].some((one) => path === one || path.startsWith(`${one}/`));
}

/** Where a path leads; of one that is not there yet, where the part that is there leads. */
function realExisting(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' || path === '/') throw error;
    return join(realExisting(dirname(path)), path.slice(path.lastIndexOf('/') + 1));
  }
}
