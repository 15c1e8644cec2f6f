import { closeSync, constants, mkdirSync, mkdtempSync, openSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../file/file.ts';
import { bindMount, detachMount, mount, mountFlags } from './sys-mount.ts';

/**
 * Tries whether changes over `lower` can be kept below `home`; null, or the reason why not. Needs a mount namespace of
 * the daemon.
 */
export function overlayRefusal(lower: string, home: string, marks: 'trusted' | 'user'): string | null {
  const folder = mkdtempSync(join(home, 'trial-'));
  const target = join(folder, 'merged');
  try {
    for (const name of ['upper', 'work', 'merged']) mkdirSync(join(folder, name));
    // The paths may contain separators of mount options, so they are passed as open folders.
    withFolders([lower, folder], ([bottom, top]) => {
      const options = `lowerdir=${bottom},upperdir=${top}/upper,workdir=${top}/work`;
      const own = marks === 'user' ? ',userxattr' : ',index=off,metacopy=off,redirect_dir=off';
      mount('carrel-trial', target, 'overlay', mountFlags.nosuid | mountFlags.nodev, options + own);
    });
    return null;
  } catch (error) {
    if (isErrno(error, 'ENOSPC') || isErrno(error, 'EDQUOT')) throw error;
    return (error as Error).message;
  } finally {
    detachMount(target);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Tries whether `source` can be mounted with other owners, by an id-mapped mount; null, or the reason why not. */
export function shiftRefusal(source: string, home: string, ownersFd: number): string | null {
  const target = mkdtempSync(join(home, 'trial-'));
  const fd = openSync(source, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    bindMount(fd, target, { readonly: true, ownersFd });
    return null;
  } catch (error) {
    return (error as Error).message;
  } finally {
    closeSync(fd);
    detachMount(target);
    rmdirSync(target);
  }
}

function withFolders(paths: readonly string[], work: (names: string[]) => void): void {
  const open = paths.map((path) => openSync(path, constants.O_RDONLY | constants.O_DIRECTORY));
  try {
    work(open.map((fd) => `/proc/self/fd/${fd}`));
  } finally {
    open.forEach(closeSync);
  }
}
