/** A home on a small disk that a sandbox fills to the last byte, or to the last inode. */
import { afterEach, describe, expect, it } from 'vitest';
import { Installation, isRunning, until } from '../harness/installation.ts';
import { fillBytes, SmallDisk } from '../harness/small-disk.ts';

const fillers = {
  bytes: fillBytes,
  inodes: 'i=0; while true; do true > n$i && i=$((i+1)); done',
};

const goOn = async () => {};
const crash = (carrel: Installation) => carrel.killDaemon();
const end = async (carrel: Installation) => {
  const pid = carrel.daemonPid;
  await carrel.ok('down');
  await until(() => !isRunning(pid), 'the daemon to end');
};

describe('a disk that a sandbox goes on filling', () => {
  let disk: SmallDisk;
  let carrel: Installation;
  afterEach(async () => {
    await carrel.dispose();
    disk.dispose();
  });

  it.each([
    ['bytes', 'a daemon that goes on', goOn],
    ['bytes', 'the next daemon, after an orderly end', end],
    ['inodes', 'the next daemon, after a crash', crash],
    ['inodes', 'the next daemon, after an orderly end', end],
  ] as const)('until 0 %s are free is freed by stop and rm, by %s', async (what, _, meanwhile) => {
    disk = new SmallDisk(64);
    carrel = new Installation(null, null, disk.place);
    carrel.write('home/config.yaml', 'disk: {keepFree: 0}\n');
    const project = carrel.folder('project');
    await carrel.ok('create', '--name', 'other');
    await carrel.ok('create', '--name', 'eater', project, '--', 'sh', '-c', fillers[what]);
    await disk.isFull(what);
    await meanwhile(carrel);
    const refused = await carrel.run(['create', '--name', 'refused', project]);
    expect([refused.exitCode, refused.stderr]).toEqual([7, expect.stringContaining('carrel rm --force eater')]);
    expect(await carrel.ok('stop', '--grace', '0', 'eater')).toBe('eater\n');
    expect((await carrel.show('eater')).state).toBe('stopped');
    await carrel.ok('rm', '--force', 'eater');
    const audit = carrel.read('home/audit/audit.log');
    expect(audit.match(/"verb":"sandbox\.(stop|remove)"/g)).toHaveLength(2);
    expect(disk.free.bytes).toBeGreaterThan(20 * 1024 ** 2);
    expect(disk.free.inodes).toBeGreaterThan(400);
    expect((await carrel.show('other')).state).toBe('running');
    await carrel.ok('create', '--name', 'more', project);
  });

  it.each([
    ['its home', '~/full'],
    ['a hidden file in its inbox of a room', '/rooms/team/inbox/.full'],
  ])('is not filled to the end: the sandbox that fills it by %s is stopped, and no other', async (_, file) => {
    disk = new SmallDisk(128);
    carrel = new Installation(null, null, disk.place);
    await carrel.ok('room', 'create', 'team');
    await carrel.ok('create', '--name', 'other');
    await carrel.ok('exec', 'other', '--', 'sh', '-c', 'head -c 20M /dev/zero > ~/before');
    await carrel.ok(
      'create',
      '--name',
      'eater',
      '--room',
      'team',
      '--',
      'sh',
      '-c',
      `while sleep 0.02; do head -c 1M /dev/zero >> ${file}; done`,
    );
    await carrel.run(['wait', 'eater']);
    expect(await carrel.show('eater')).toMatchObject({
      state: 'stopped',
      reason: expect.stringMatching(/^disk almost full: it took [\d.]+[MG]$/),
    });
    expect(disk.free.bytes).toBeGreaterThan(4 * 1024 ** 2);
    expect(await carrel.ok('ls')).toContain('disk almost full: it took ');
    expect(await carrel.ok('events')).toContain('sandbox.disk_full');
    expect((await carrel.show('other')).state).toBe('running');
  });

  it('while no daemon runs makes the next daemon stop the sandbox that filled it', async () => {
    disk = new SmallDisk(64);
    carrel = new Installation(null, null, disk.place);
    await carrel.ok('create', '--name', 'other');
    const waiting = 'until [ -e /.data/go ]; do sleep 0.05; done; cd';
    await carrel.ok('create', '--name', 'eater', '--', 'sh', '-c', `${waiting}; ${fillers.bytes}`);
    const { id } = await carrel.show('eater');
    await carrel.killDaemon();
    carrel.write(`home/sandboxes/${id}/state/data/go`, '');
    await disk.isFull('bytes');
    await carrel.ok('up', '-d');
    await carrel.run(['wait', 'eater']);
    expect(await carrel.show('eater')).toMatchObject({
      state: 'stopped',
      reason: expect.stringMatching(/^disk almost full: it took [\d.]+[MG]$/),
    });
    expect((await carrel.show('other')).state).toBe('running');
  });
});
