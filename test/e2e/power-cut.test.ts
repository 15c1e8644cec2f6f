// @needs root
/**
 * Power cuts: what was not written to the disk is lost, and every process ends. A filesystem that is shut down without
 * flushing its log has the same content after the next mount as after a power cut.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Installation, until } from '../harness/installation.ts';
import { isRepeated } from '../harness/machine.ts';

/** Mount options with which no data reaches the disk by itself during a test. */
const kinds: [string, string][] = [
  ['ext4', 'loop,commit=3600'],
  ['xfs', 'loop'],
];

const work = `
cd /workspace
echo changed > kept; rm removed; mkdir folder; echo deep > folder/deep
echo home > ~/note; echo data > /.data/note
sync
exec sleep infinity`;
const changes = ['A\tfolder', 'A\tfolder/deep', 'D\tremoved', 'M\tkept'];

describe.each(kinds)('on %s', (type, options) => {
  let folder: string;
  let disk: string;
  let carrel: Installation;
  const project = () => join(disk, 'project');

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'carrel-power-'));
    disk = join(folder, 'disk');
    mkdirSync(disk);
    writeFileSync(join(folder, 'image'), '');
    truncateSync(join(folder, 'image'), 1024 ** 3);
    execFileSync(`mkfs.${type}`, ['-q', join(folder, 'image')]);
    mountDisk();
    carrel = new Installation(null, null, disk);
    mkdirSync(project());
  });
  afterEach(async () => {
    await carrel.dispose();
    await until(unmounted, 'the disk to be free');
    rmSync(folder, { recursive: true });
  });

  function mountDisk(): void {
    execFileSync('mount', ['-o', options, join(folder, 'image'), disk]);
  }

  function unmounted(): boolean {
    try {
      execFileSync('umount', [disk], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  }

  /** All processes of the home: daemon, keepers and sandboxes, whose mounts name the home from the root of the disk. */
  function processes(): number[] {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
    const isOfHome = (pid: string) =>
      ['cmdline', 'environ'].some((name) => textOf(`/proc/${pid}/${name}`).includes(disk)) ||
      textOf(`/proc/${pid}/mountinfo`).includes(` ${carrel.home.slice(disk.length)}/`);
    return pids.filter(isOfHome).map(Number);
  }

  async function cutPower(): Promise<void> {
    execFileSync('xfs_io', ['-x', '-c', 'shutdown', disk]);
    await until(() => {
      const left = processes();
      for (const pid of left) killed(pid);
      return left.length === 0 && unmounted();
    }, 'everything to be gone');
    await until(() => devices() === '', 'the device to be free');
    mountDisk();
  }

  function devices(): string {
    return execFileSync('losetup', ['--associated', join(folder, 'image')], { encoding: 'utf8' });
  }

  const changed = async (name: string) => (await carrel.ok('diff', '--name-status', name)).trim().split('\n').sort();

  it('every answered request has its effect after the power cut, and no other is half done', async () => {
    for (const name of ['kept', 'removed', 'taken']) writeFileSync(join(project(), name), `${name} as it was\n`);
    execFileSync('sync', ['--file-system', disk]);
    await carrel.run(['run', '--name', 'taker', project(), '--', 'sh', '-c', 'echo taken > taken; sync; exit 3']);
    await carrel.ok('create', '--name', 'worker', project(), '--', 'sh', '-c', work);
    await until(async () => (await changed('worker')).length === changes.length, 'the work to be done');
    await carrel.ok('exec', 'worker', '--', 'sh', '-c', 'echo first > /.data/state; sync');
    await carrel.ok('snapshot', 'worker', 'first');
    await carrel.ok('exec', 'worker', '--', 'sh', '-c', 'echo second > /.data/state; sync');
    await carrel.ok('fork', 'worker', 'twin');
    await carrel.ok('create', '--name', 'still', '--base', 'frozen', project(), '--', 'sleep', 'infinity');
    await carrel.ok('apply', 'taker');
    // The row of `newest` is the last write to the store.
    await carrel.ok('create', '--name', 'newest', '--', 'sleep', 'infinity');
    await cutPower();

    expect(await carrel.show('newest')).toMatchObject({ command: ['sleep', 'infinity'] });
    expect(await carrel.show('taker')).toMatchObject({ state: 'failed', exitCode: 3 });
    for (const name of ['worker', 'still'])
      expect(await carrel.show(name)).toMatchObject({ state: 'failed', reason: 'lost' });
    expect(readdirSync(project()).sort()).toEqual(['kept', 'removed', 'taken']);
    expect(readFileSync(join(project(), 'taken'), 'utf8')).toBe('taken\n');
    await carrel.ok('undo', 'taker');
    expect(readFileSync(join(project(), 'taken'), 'utf8')).toBe('taken as it was\n');
    for (const name of ['worker', 'twin']) expect(await changed(name)).toEqual(changes);
    expect(await data('twin', 'state')).toBe('second\n');
    const [{ id }] = await carrel.json<[{ id: string }]>('snapshots', 'worker');
    await carrel.ok('restore', 'worker', id);
    expect(await changed('worker')).toEqual(changes);
    expect(await data('worker', 'state')).toBe('first\n');
    await carrel.ok('start', 'still');
    expect(await carrel.ok('exec', 'still', '--', 'cat', '/workspace/kept')).toBe('kept as it was\n');
  });

  if (type === 'ext4' || isRepeated)
    it('a session has every message and question after the power cut, and goes on', async () => {
      const session = (...args: string[]) => carrel.ok('session', ...args);
      await carrel.process(['chat', project(), '--agent', 'demo'], { input: 'say hello' });
      const [{ sandbox }] = await carrel.json<[{ sandbox: string }]>('session', 'ls');
      await session('send', sandbox, 'ask colour: red, blue');
      await until(async () => (await session('show', sandbox)).includes('? colour'), 'the question');
      const before = await session('show', sandbox, '--last', '100');
      await cutPower();

      expect(await carrel.show(sandbox)).toMatchObject({ state: 'failed', reason: 'lost' });
      for (const line of before.split('\n').filter((text) => /hello|colour/.test(text)))
        expect(await session('show', sandbox, '--last', '100')).toContain(line);
      await session('answer', sandbox, 'blue');
      await until(async () => (await session('show', sandbox)).includes('idle'), 'the answer to be a prompt');
      expect(await session('send', sandbox, '--wait', 'say again')).toBe('again\n');
    });

  async function data(name: string, file: string): Promise<string> {
    const { id } = await carrel.show(name);
    return readFileSync(join(carrel.home, 'sandboxes', id, 'state/data', file), 'utf8');
  }

  it('an apply that was cut in the middle is complete or not begun', async () => {
    const names = Array.from({ length: 500 }, (_, index) => `file-${index}`);
    const texts = () => [...new Set(names.map((name) => readFileSync(join(project(), name), 'utf8')))];
    for (const name of names) writeFileSync(join(project(), name), 'before');
    execFileSync('sync', ['--file-system', disk]);
    const script = 'cd /workspace; for name in *; do printf after > $name; done; sync';
    await carrel.ok('run', '--name', 'many', project(), '--', 'sh', '-c', script);
    const apply = carrel.run(['apply', 'many']);
    while (!texts().includes('after')) await new Promise((resolve) => setImmediate(resolve));
    await cutPower();
    await apply;

    await carrel.ok('ls');
    expect(texts()).toHaveLength(1);
    expect(readdirSync(project()).sort()).toEqual([...names].sort());
    if (texts()[0] === 'before') await carrel.ok('apply', 'many');
    expect(texts()).toEqual(['after']);
    await carrel.ok('undo', 'many');
    expect(texts()).toEqual(['before']);
  });
});

/** Empty if the file is gone meanwhile. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function killed(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended meanwhile, ignoring.
  }
}
