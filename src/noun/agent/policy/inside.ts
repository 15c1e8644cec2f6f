import { realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Whether a path is inside a folder, both as written and with its symlinks resolved. */
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

/** An absolute path may also begin with the unresolved name of the folder. */
function isWithin(path: string, folder: string, unresolved: string): boolean {
  return [folder, resolve(unresolved)].some((one) => path === one || path.startsWith(`${one}/`));
}

/** Resolves symlinks in the part of a path that exists. */
function realExisting(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' || path === '/') throw error;
    return join(realExisting(dirname(path)), path.slice(path.lastIndexOf('/') + 1));
  }
}
