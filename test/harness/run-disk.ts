/**
 * A disk for a run: a file with a filesystem, mounted over the run's folder in the mount namespace of the run, and
 * unmounted with that namespace. A write does not wait for the disk of the machine. Besides, on ext4 without a journal,
 * as virtual machines have it, creating a file soon after others were removed takes long.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

const maxSize = '32G';

/** Mounts a folder of the disk that is named after the run, so that mounts from it name the run. */
export function mountRunDisk(folder: string): void {
  const image = `${folder}.image`;
  try {
    command('truncate', '-s', maxSize, image);
    command('mkfs.ext4', '-q', '-m', '0', '-E', 'nodiscard,lazy_itable_init=1', image);
    command('mount', '-o', 'loop,discard,nobarrier,noinit_itable', image, folder);
  } catch (error) {
    console.log(`no disk for the run: ${(error as Error).message}, ignoring`);
    return;
  } finally {
    rmSync(image, { force: true });
  }
  const own = join(folder, basename(folder));
  mkdirSync(own);
  command('mount', '--bind', own, folder);
}

/** Unmounts both mounts, if there is a disk. */
export function unmountRunDisk(folder: string): void {
  try {
    for (;;) command('umount', '--lazy', folder);
  } catch {
    // It is not mounted any more, ignoring.
  }
}

function command(program: string, ...args: string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
