/** The store on a full disk with blocks that are smaller than pages of memory. */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SmallDisk } from '../harness/small-disk.ts';

let disk: SmallDisk;
beforeEach(() => {
  disk = new SmallDisk(16);
});
afterEach(() => disk.dispose());

function openAndDie(): { readonly stdout: string; readonly signal: string | null } {
  const script = resolve('test/fixtures/store-open.mjs');
  const { stdout, signal } = spawnSync(process.execPath, [script, join(disk.place, 'carrel.db')], { encoding: 'utf8' });
  return { stdout, signal };
}

/** As SQLite makes the file: one byte at the end of each page. */
function leaveHoles(index: string): void {
  truncateSync(index, 0);
  const fd = openSync(index, 'r+');
  for (let page = 1; page <= 8; page += 1) writeSync(fd, '\0', page * 4096 - 1);
  closeSync(fd);
}

it('a store whose index of the log was left with holes opens with reserved space', () => {
  expect(openAndDie()).toEqual({ stdout: 'open\n', signal: 'SIGKILL' });
  const index = join(disk.place, 'carrel.db-shm');
  leaveHoles(index);
  writeFileSync(join(disk.place, 'reserve'), Buffer.alloc(256 * 1024, 1));
  spawnSync('sh', ['-c', 'dd if=/dev/zero bs=1k status=none > full'], { cwd: disk.place });
  spawnSync('sync', ['-f', disk.place]);
  spawnSync('sh', ['-c', 'dd if=/dev/zero bs=1k status=none >> full'], { cwd: disk.place });
  expect(disk.free.bytes).toBe(0);
  expect(openAndDie()).toEqual({ stdout: 'open\n', signal: 'SIGKILL' });
  rmSync(join(disk.place, 'full'));
});
