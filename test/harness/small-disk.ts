import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './installation.ts';

/**
 * A command for a shell in the folder of the disk, which never ends. It writes one block at a time: the kernel refuses
 * a larger write as a whole, and up to 128 KiB would stay free, which is enough for a small sandbox.
 */
export const fillBytes = 'while :; do dd if=/dev/zero bs=1k status=none >> full; done';

/** A small disk with a real filesystem, of which nothing is reserved for root. */
export class SmallDisk {
  readonly folder = mkdtempSync(join(tmpdir(), 'carrel-small-'));
  readonly place = join(this.folder, 'mounted');

  constructor(sizeMiB: number) {
    const image = join(this.folder, 'image');
    execFileSync('truncate', ['-s', `${sizeMiB}M`, image]);
    execFileSync('mkfs.ext4', ['-q', '-m', '0', '-b', '1024', '-N', '1000', image]);
    mkdirSync(this.place);
    execFileSync('mount', ['-o', 'loop', image, this.place]);
  }

  get free(): { readonly bytes: number; readonly inodes: number } {
    const { bavail, bsize, ffree } = statfsSync(this.place);
    return { bytes: bavail * bsize, inodes: ffree };
  }

  /** Waits until the disk is full. While the sandbox goes on, it allocates and frees a few blocks. */
  async isFull(what: 'bytes' | 'inodes'): Promise<void> {
    await until(() => this.free[what] < { bytes: 16_384, inodes: 1 }[what], `no ${what} to be left`);
  }

  dispose(): void {
    execFileSync('umount', [this.place]);
    rmSync(this.folder, { recursive: true });
  }
}
