// @takes 45 s
/**
 * The daemon is killed between every two steps of snapshot, restore, fork and discard. The next command finds the
 * operation done or not begun, never partly done, and the paused sandbox running again.
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SnapshotView } from '../../src/noun/workspace/api.ts';
import { until } from '../harness/installation.ts';
import { isRepeated } from '../harness/machine.ts';
import { agent, changesOf, ways } from '../harness/project.ts';
import { carrel, close, counting, crashDuring, folderOf, goesOn, open, project } from './workspace-crash.ts';

const snapshots = (name: string) => carrel.json<SnapshotView[]>('snapshots', name);
const names = async () => (await carrel.list()).map(({ name }) => name).sort();
const kept = () => readdirSync(join(carrel.home, 'sandboxes')).length;

describe.each(isRepeated ? ways : ways.slice(0, 1))('snapshots and forks of a running sandbox, as %s', (way) => {
  let id: string;

  beforeAll(async () => {
    open(way);
    await carrel.ok('create', '--name', 'box', project.path, '--', ...counting);
    id = (await carrel.show('box')).id;
    await agent(carrel, 'box', 'echo one > f; rm keep.txt; echo h > ~/h; echo d > /.data/d');
  });
  afterAll(close);

  it.each(['pause:held', 'snapshot:copied'])('a snapshot that dies at %s leaves nothing', async (point) => {
    await crashDuring(point, 'snapshot', 'box', 'half');
    expect(await snapshots('box')).toEqual([]);
    await goesOn(id);
    expect(await carrel.ok('snapshot', 'box', 'whole')).toBe('0001\n');
    expect(readdirSync(join(folderOf(id), 'snapshots'))).toEqual(['0001']);
    expect((await carrel.run(['rm', 'box'])).exitCode).toBe(6);
    await carrel.ok('down');
    rmSync(join(folderOf(id), 'snapshots'), { recursive: true });
  });

  it.each(['state:filled', 'fork:copied'])('a fork that dies at %s leaves nothing', async (point) => {
    await crashDuring(point, 'fork', 'box', 'left', 'right');
    expect(await names()).toEqual(['box']);
    expect(kept()).toBe(1);
    await goesOn(id);
  });

  it('a fork that was recorded is complete, and the next one does not exist', async () => {
    await crashDuring('fork:recorded', 'fork', 'box', 'left', 'right');
    expect(await names()).toEqual(['box', 'left']);
    expect(kept()).toBe(2);
    await goesOn(id);
    expect(await changesOf(carrel, 'left')).toEqual(['A f', 'D keep.txt']);
    await carrel.ok('start', 'left');
    expect(await agent(carrel, 'left', 'cat f ~/h /.data/d; ls')).toBe('one\nh\nd\na.txt\nf\nmode.txt\nsrc\n');
    await carrel.ok('rm', '--force', 'left');
    expect(kept()).toBe(1);
  });
});

describe.each(isRepeated ? ways : ways.slice(0, 1))('restore and discard, as %s', (way) => {
  const look = 'cat f ~/h /.data/d; ls';
  const one = 'one\none\none\na.txt\nf\nmode.txt\nsrc\n';
  const two = 'two\ntwo\ntwo\na.txt\nf\nkeep.txt\nmode.txt\nsrc\n';

  /** Stops the sandbox in state two, with state one as its first snapshot. */
  async function prepare(...options: string[]): Promise<string> {
    await carrel.ok('create', '--name', 'box', ...options, project.path);
    await agent(carrel, 'box', 'echo one > f; rm keep.txt; echo one > ~/h; echo one > /.data/d');
    await carrel.ok('snapshot', 'box', 'one');
    await agent(carrel, 'box', 'echo two > f; echo kept > keep.txt; echo two > ~/h; echo two > /.data/d');
    await carrel.ok('stop', '--grace', '0', 'box');
    return (await carrel.show('box')).id;
  }
  async function seen(): Promise<string> {
    await carrel.ok('start', 'box');
    const output = await agent(carrel, 'box', look);
    await carrel.ok('stop', '--grace', '0', 'box');
    return output;
  }

  beforeAll(() => open(way));
  afterAll(close);
  afterEach(() => carrel.ok('rm', '--force', 'box'));

  const points = ['restore:copied', 'restore:noted', 'restore:begun', 'restore:set-aside', 'restore:swapped'];
  it.each(way === 'root' ? [...points, 'restore:kept'] : ['restore:copied', 'restore:set-aside'])(
    'a restore that dies at %s is done or not begun, and can be undone',
    async (point) => {
      const id = await prepare();
      await crashDuring(point, 'restore', 'box', 'one');
      const done = point !== 'restore:copied';
      expect((await snapshots('box')).map(({ label }) => label)).toEqual(
        done ? ['one', 'before restore of 0001'] : ['one'],
      );
      expect(await seen()).toBe(done ? one : two);
      expect(readdirSync(folderOf(id)).filter((name) => /new|json/.test(name))).toEqual([]);
      if (done) await carrel.ok('restore', 'box', '0002');
      expect(await seen()).toBe(two);
    },
  );

  it('a discard that dies before its snapshot is complete discards nothing', async () => {
    await prepare();
    await crashDuring('snapshot:copied', 'discard', 'box', '--yes');
    expect(await changesOf(carrel, 'box')).toEqual(['A f']);
    expect(await snapshots('box')).toHaveLength(1);
    await carrel.ok('discard', 'box', '--yes');
    expect(await changesOf(carrel, 'box')).toEqual([]);
    await carrel.ok('restore', 'box', '0002');
    expect(await seen()).toBe(two);
  });

  it.each(['discard:noted', 'discard:moved', 'discard:forgotten'])(
    'a discard that dies at %s is done, and changes that were applied before stay in the project',
    async (point) => {
      await prepare();
      await carrel.ok('apply', 'box');
      await carrel.ok('start', 'box');
      await carrel.ok('exec', 'box', '--', 'sh', '-c', 'echo later > later; echo again >> f');
      await carrel.ok('stop', '--grace', '0', 'box');
      await crashDuring(point, 'discard', 'box', '--yes');
      expect(await changesOf(carrel, 'box')).toEqual([]);
      await carrel.ok('apply', 'box');
      expect(readdirSync(project.path)).toContain('f');
      expect(readdirSync(project.path)).not.toContain('later');
    },
  );

  if (way === 'root')
    describe('with a disk of its own', () => {
      const disk = ['--disk', '64m'];

      it.each(['restore:noted', 'restore:emptied', 'restore:filled'])(
        'a restore that dies at %s is done',
        async (point) => {
          await prepare(...disk);
          await crashDuring(point, 'restore', 'box', 'one');
          expect(await seen()).toBe(one);
          await carrel.ok('restore', 'box', '0002');
          expect(await seen()).toBe(two);
        },
      );

      it('a fork that dies while its disk is made does not exist', async () => {
        await prepare(...disk);
        await crashDuring('disk:filled', 'fork', 'box', 'left');
        expect(await names()).toEqual(['box']);
        expect(kept()).toBe(1);
        expect(await seen()).toBe(two);
      });

      it('a sandbox whose disk was not finished gets a new one', async () => {
        await crashDuring('disk:filled', 'create', '--name', 'box', ...disk, project.path);
        await until(async () => (await carrel.show('box')).state === 'running', 'the sandbox to run');
        expect((await carrel.show('box')).limits.advisory).not.toContain('diskBytes');
        expect(await agent(carrel, 'box', 'echo x > f; df --output=size -BM /workspace | tail -1')).toMatch(
          /^ *[456]\dM\n$/,
        );
      });
    });
});
