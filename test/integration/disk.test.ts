// @needs root
/** Disks of sandboxes, on real loop devices. In our own mount namespace, so that nothing shows on the host. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { diskUsage } from '../../src/lib/file/disk.ts';
import { detachMount } from '../../src/lib/sys/sys-mount.ts';
import { ensureDisk, hasDisk, removeDisk } from '../../src/noun/workspace/snapshot/disk.ts';
import {
  copyState,
  listSnapshots,
  recoverRestore,
  removeSnapshot,
  restoreSnapshot,
  takeSnapshot,
} from '../../src/noun/workspace/snapshot/snapshot.ts';
import { until } from '../conformance/engine/wait.ts';
import { crash, fingerprint, Layers } from '../fixtures/layers.ts';

const at = '2025-01-02T03:04:05.000Z';
const sizeBytes = 64 * 1024 ** 2;
let layers: Layers;
let folder: string;

/** Unmounts the disk, as the end of a daemon does with its namespace. */
const release = (sandboxFolder: string) => hasDisk(sandboxFolder) && detachMount(join(sandboxFolder, 'state'));

beforeEach(() => {
  layers = new Layers();
  folder = layers.folder;
});

afterEach(async () => {
  for (const name of readdirSync(layers.root)) release(layers.sandbox(name));
  await attached(0);
  layers.dispose();
});

/** Loop devices that are attached to a file of this test. */
function devices(): string[] {
  return execFileSync('losetup', ['--list', '--noheadings', '--output', 'NAME,BACK-FILE'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(layers.root));
}

/** The kernel frees a device a moment after its last mount. */
async function attached(count: number): Promise<void> {
  await until(`${count} loop devices`, async () => (devices().length === count ? true : null));
}

async function enforced(): Promise<void> {
  expect(await ensureDisk(folder, sizeBytes)).toEqual({ kind: 'enforced' });
  layers.prepare();
}

function usedBytes(): number {
  return statSync(join(folder, 'disk.img')).blocks * 512;
}

describe('a disk', () => {
  it('is full inside only, and uses as much space as its files', async () => {
    await enforced();
    expect(usedBytes()).toBeLessThan(8 * 1024 ** 2);
    const { status, stderr } = spawnSync('sh', ['-c', 'head -c 100000000 /dev/zero | tr "\\0" x > full'], {
      cwd: join(folder, 'state/data'),
      encoding: 'utf8',
    });
    expect(status).not.toBe(0);
    expect(stderr).toContain('No space left');
    writeFileSync(join(layers.root, 'outside'), Buffer.alloc(100_000_000));
    execFileSync('sync', ['-f', join(folder, 'state')]);
    expect(usedBytes()).toBeGreaterThan(32 * 1024 ** 2);
    execFileSync('rm', [join(folder, 'state/data/full')]);
    execFileSync('sync', ['-f', join(folder, 'state')]);
    await until('its blocks to be given back', async () => (usedBytes() < 16 * 1024 ** 2 ? true : null));
  });

  it('is private, and neither setuid nor devices work on it', async () => {
    await enforced();
    const mounted = readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .find((line) => line.includes(`${folder}/state `))!;
    expect(mounted).toMatch(/nosuid,nodev/);
    expect(readFileSync('/proc/1/mountinfo', 'utf8')).not.toContain(folder);
    expect(statSync(join(folder, 'disk.img')).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'state')).mode & 0o777).toBe(0o711);
    expect(readdirSync(join(folder, 'state')).sort()).toEqual(['data', 'home', 'workspace']);
  });

  it('has its files again when it is mounted after it was released', async () => {
    await enforced();
    layers.inside('echo one > file; rm -r deleted');
    const seen = layers.seen();
    await enforced();
    await attached(1);
    release(folder);
    release(folder);
    expect(readdirSync(join(folder, 'state'))).toEqual([]);
    await attached(0);
    await enforced();
    expect(layers.seen()).toBe(seen);
  });

  it('is mounted from the device that a sandbox still uses, never from a second one', async () => {
    await enforced();
    const script = 'exec 3> data/held; echo ready; read line; echo "$line" >&3';
    const enter = ['--mount', '--propagation', 'private', '--', 'sh', '-c', script];
    const other = spawn('unshare', enter, { cwd: join(folder, 'state'), stdio: ['pipe', 'pipe', 'inherit'] });
    await once(other.stdout, 'data');
    release(folder);
    const before = devices();
    expect(before).toHaveLength(1);
    await enforced();
    expect(devices()).toEqual(before);
    other.stdin.end('written by the other\n');
    await once(other, 'exit');
    expect(readFileSync(join(folder, 'state/data/held'), 'utf8')).toBe('written by the other\n');
    writeFileSync(join(folder, 'state/data/held'), 'ours');
  });

  it('is removed with everything on it', async () => {
    await enforced();
    layers.inside('echo one > file');
    await removeDisk(folder);
    await removeDisk(folder);
    expect(readdirSync(folder)).toEqual(['state']);
    expect(readdirSync(join(folder, 'state'))).toEqual([]);
  });
});

describe('a disk that cannot be made or mounted', () => {
  it('is reported as advisory with the reason, and leaves the plain folder', async () => {
    expect(await ensureDisk(folder, 4096)).toEqual({ kind: 'advisory', reason: expect.stringContaining('mkfs.ext4') });
    expect(readdirSync(folder)).toEqual(['state']);
    layers.prepare();
    expect(await ensureDisk(folder, sizeBytes)).toEqual({
      kind: 'advisory',
      reason: 'the sandbox has files from a start without a limit',
    });
    expect(hasDisk(folder)).toBe(false);
  });

  it('is an error if its image exists, never an empty folder', async () => {
    await enforced();
    release(folder);
    await attached(0);
    writeFileSync(join(folder, 'disk.img'), Buffer.alloc(1_000_000));
    await expect(ensureDisk(folder, sizeBytes)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('on a disk', () => {
  const work = 'echo one > file; rm -r deleted; rm -r replaced; mkdir replaced; ln file linked; mkfifo pipe';

  it('snapshots are taken and restored, also when it holds more than its half', async () => {
    await enforced();
    layers.inside(`${work}; head -c 30000000 /dev/urandom > big`);
    const seen = layers.seen();
    const { id, sizeBytes: size } = await takeSnapshot(folder, { label: null, at, auto: false });
    expect(size).toBeGreaterThan(30_000_000);
    layers.inside('rm file; echo two > two');
    const before = await restoreSnapshot(folder, id, at);
    expect(layers.seen()).toBe(seen);
    await restoreSnapshot(folder, before.id, at);
    expect(layers.inside('cat two')).toBe('two\n');
    expect(await diskUsage(folder)).toBeGreaterThan(90_000_000);
  });

  it('a snapshot includes the files of a disk that is not mounted', async () => {
    await enforced();
    layers.inside(work);
    const upper = fingerprint(join(folder, 'state/workspace/upper'));
    release(folder);
    const { id } = await takeSnapshot(folder, { label: null, at, auto: false });
    expect(fingerprint(join(folder, 'snapshots', id, 'state/workspace/upper'))).toEqual(upper);
  });

  it('the oldest automatic snapshot can be restored, although it is the next to be removed', async () => {
    await enforced();
    layers.inside(work);
    const seen = layers.seen();
    const oldest = await takeSnapshot(folder, { label: null, at, auto: true });
    layers.inside('rm file; echo two > two');
    for (let count = 1; count < 10; count += 1) await takeSnapshot(folder, { label: null, at, auto: true });
    await restoreSnapshot(folder, oldest.id, at);
    expect(layers.seen()).toBe(seen);
  });

  it.each(['noted', 'emptied'])(
    'a restore that a crash interrupted at "%s" is given up, once, if its snapshot is gone',
    async (point) => {
      await enforced();
      layers.inside(work);
      const { id } = await takeSnapshot(folder, { label: null, at, auto: false });
      layers.inside('rm file; echo two > two');
      const seen = layers.seen();
      crash(`restore:${point}`, `await snapshot.restoreSnapshot(${JSON.stringify(folder)}, '${id}', '${at}')`);
      await removeSnapshot(folder, id);
      await expect(recoverRestore(folder)).rejects.toMatchObject({ code: 'corrupt' });
      await recoverRestore(folder);
      expect(layers.seen()).toBe(seen);
    },
  );

  for (const point of ['noted', 'emptied', 'filled']) {
    it(`a restore that ends by SIGKILL after "${point}" is finished`, async () => {
      await enforced();
      layers.inside(work);
      const seen = layers.seen();
      const { id } = await takeSnapshot(folder, { label: null, at, auto: false });
      layers.inside('rm file; echo two > two');
      crash(`restore:${point}`, `await snapshot.restoreSnapshot(${JSON.stringify(folder)}, '${id}', '${at}')`);
      release(folder);
      await recoverRestore(folder);
      await recoverRestore(folder);
      expect(layers.seen()).toBe(seen);
      expect(listSnapshots(folder).map(({ auto }) => auto)).toEqual([false, true]);
      expect(existsSync(join(folder, 'restore.json'))).toBe(false);
    });
  }

  it('a fork gets a disk of the same size', async () => {
    await enforced();
    layers.inside(work);
    const fork = layers.sandbox('fork');
    await copyState(folder, fork);
    expect(layers.seen(fork)).toBe(layers.seen());
    expect(readdirSync(fork).sort()).toEqual(['disk.img', 'state']);
    expect(statSync(join(fork, 'disk.img')).size).toBe(sizeBytes);
    expect(await ensureDisk(fork, sizeBytes)).toEqual({ kind: 'enforced' });
    await attached(2);
    layers.inside('echo mine > file', fork);
    expect(layers.inside('cat file')).toBe('one\n');
  });

  it('a fork does not exist after a SIGKILL half-way, and can be made again', async () => {
    await enforced();
    layers.inside(work);
    const fork = layers.sandbox('fork');
    crash('disk:filled', `await snapshot.copyState(${JSON.stringify(folder)}, ${JSON.stringify(fork)})`);
    expect(hasDisk(fork)).toBe(false);
    expect(existsSync(join(fork, 'state'))).toBe(false);
    await copyState(folder, fork);
    expect(layers.seen(fork)).toBe(layers.seen());
    expect(readdirSync(fork).sort()).toEqual(['disk.img', 'state']);
    await attached(2);
  });
});
