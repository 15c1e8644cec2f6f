/**
 * The daemon is killed between every two steps of apply, undo, snapshot, restore, fork and discard, and at random moments.
 * Whatever command comes next finds each of them done or not begun, nothing half made, and the sandbox that was held
 * still meanwhile going on.
 */
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SnapshotView } from '../../src/api/routes.ts';
import { Installation, isRunning, until } from '../harness/installation.ts';
import { isRealRoot, isRepeated } from '../harness/machine.ts';
import { agent, apply, changesOf, numbers, Project, stateOf, ways } from '../harness/project.ts';
import { createRootlessAccount, type RootlessAccount } from '../harness/rootless.ts';

let account: RootlessAccount | null;
let carrel: Installation;
let project: Project;

function open(way: string): void {
  account = way === 'rootless' && isRealRoot ? createRootlessAccount() : null;
  carrel = new Installation(account);
  project = new Project(carrel.folder('project'), {
    'a.txt': numbers(1, 20),
    'keep.txt': 'kept\n',
    'mode.txt': 'mode\n',
    'src/main.ts': 'export {};\n',
  });
  project.folder('src/empty');
}

async function close(): Promise<void> {
  await carrel.dispose();
  account?.dispose();
}

/** Runs a command against a daemon that dies at `point`, and sees it die. */
async function crashDuring(point: string, ...args: string[]): Promise<void> {
  if (existsSync(join(carrel.home, 'carrel.sock'))) await carrel.ok('down');
  await carrel.run(['up', '-d'], { env: { CARREL_CRASH_AT: point } });
  const pid = carrel.daemonPid;
  const { exitCode } = await carrel.run(args);
  await until(() => !isRunning(pid), `the daemon to die at ${point}`);
  expect(exitCode).not.toBe(0);
}

/** Writes one more line to its home for as long as it runs. */
const counting = ['sh', '-c', 'while :; do echo >> ~/count; sleep 0.02; done'];

const folderOf = (id: string) => join(carrel.home, 'sandboxes', id);

async function goesOn(id: string): Promise<void> {
  const count = () => statSync(join(folderOf(id), 'state/home/upper/count'), { throwIfNoEntry: false })?.size ?? 0;
  const from = count();
  await until(() => count() > from, 'the sandbox to go on');
}

/** Until its journal says what is to be done nothing is; from then on it will be. */
const early = ['apply:staging-made', 'apply:staged'];
const late = ['apply:ready', 'apply:step:0', 'apply:step:4', 'apply:steps-done', 'apply:old-kept', 'apply:done'];
const applyPoints = [...['pause:held', 'apply:recorded', ...early], ...late, 'apply:cleaned'];
const undoPoints = [
  'pause:held',
  'apply:staged',
  'apply:ready',
  'apply:step:4',
  'apply:old-kept',
  'apply:cleaned',
  'undo:taken-back',
];
const few = ['apply:staged', 'apply:step:4', 'apply:old-kept'];

describe.each(ways)('an apply, as %s', (way) => {
  const work =
    'echo more >> a.txt; rm -r keep.txt src/empty; chmod 600 mode.txt; mkdir -p new/er; echo x > new/er/file; ln -s a.txt link';
  let before: string;
  let after: string;
  let changes: string[];
  let id: string;

  beforeAll(async () => {
    open(way);
    await carrel.ok('create', '--name', 'box', project.path, '--', ...counting);
    id = (await carrel.show('box')).id;
    await agent(carrel, 'box', work);
    changes = await changesOf(carrel, 'box');
    expect(changes).toHaveLength(8);
    before = stateOf(project.path);
    await apply(carrel, 'box');
    after = stateOf(project.path);
    await carrel.ok('undo', 'box');
  });
  afterAll(close);
  beforeEach(() => expect(stateOf(project.path)).toBe(before));

  const isEarly = (point: string) => ['pause:held', 'apply:recorded', ...early].includes(point);

  it.each(way === 'root' ? applyPoints : few)('that dies at %s is done or not begun', async (point) => {
    await crashDuring(point, 'apply', 'box');
    expect(await changesOf(carrel, 'box')).toEqual(isEarly(point) ? changes : []);
    expect(stateOf(project.path)).toBe(isEarly(point) ? before : after);
    await goesOn(id);
    if (isEarly(point)) await apply(carrel, 'box');
    expect(stateOf(project.path)).toBe(after);
    await carrel.ok('undo', 'box');
    expect(await changesOf(carrel, 'box')).toEqual(changes);
  });

  it.each(way === 'root' ? undoPoints : few)('whose undo dies at %s is taken back or stands', async (point) => {
    await apply(carrel, 'box');
    await crashDuring(point, 'undo', 'box');
    expect(await changesOf(carrel, 'box')).toEqual(isEarly(point) ? [] : changes);
    expect(stateOf(project.path)).toBe(isEarly(point) ? after : before);
    await goesOn(id);
    if (!isEarly(point)) await apply(carrel, 'box');
    expect(stateOf(project.path)).toBe(after);
    await carrel.ok('undo', 'box');
    expect(await changesOf(carrel, 'box')).toEqual(changes);
  });
});

const snapshots = (name: string) => carrel.json<SnapshotView[]>('snapshots', name);
const names = async () => (await carrel.list()).map(({ name }) => name).sort();
const kept = () => readdirSync(join(carrel.home, 'sandboxes')).length;

describe.each(isRepeated ? ways : ways.slice(0, 1))('what is kept of a running sandbox, as %s', (way) => {
  let id: string;

  beforeAll(async () => {
    open(way);
    await carrel.ok('create', '--name', 'box', project.path, '--', ...counting);
    id = (await carrel.show('box')).id;
    await agent(carrel, 'box', 'echo one > f; rm keep.txt; echo h > ~/h; echo d > /.data/d');
  });
  afterAll(close);

  it.each(['pause:held', 'snapshot:copied'])('no snapshot is left by one that dies at %s', async (point) => {
    await crashDuring(point, 'snapshot', 'box', 'half');
    expect(await snapshots('box')).toEqual([]);
    await goesOn(id);
    expect(await carrel.ok('snapshot', 'box', 'whole')).toBe('0001\n');
    expect(readdirSync(join(folderOf(id), 'snapshots'))).toEqual(['0001']);
    expect((await carrel.run(['rm', 'box'])).exitCode).toBe(6);
    await carrel.ok('down');
    rmSync(join(folderOf(id), 'snapshots'), { recursive: true });
  });

  it.each(['state:filled', 'fork:copied'])('no fork is left by one that dies at %s', async (point) => {
    await crashDuring(point, 'fork', 'box', 'left', 'right');
    expect(await names()).toEqual(['box']);
    expect(kept()).toBe(1);
    await goesOn(id);
  });

  it('a fork that was recorded is whole, and the one after it is not there', async () => {
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

describe.each(isRepeated ? ways : ways.slice(0, 1))('what goes back to an earlier state, as %s', (way) => {
  const look = 'cat f ~/h /.data/d; ls';
  const one = 'one\none\none\na.txt\nf\nmode.txt\nsrc\n';
  const two = 'two\ntwo\ntwo\na.txt\nf\nkeep.txt\nmode.txt\nsrc\n';

  /** Stopped in state two, with state one as its first snapshot. */
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

  it('a discard that dies before its snapshot is whole discards nothing', async () => {
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
    'a discard that dies at %s is done, and what was taken over before stays in the project',
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

      it('a fork that dies while its disk is made is not there', async () => {
        await prepare(...disk);
        await crashDuring('disk:filled', 'fork', 'box', 'left');
        expect(await names()).toEqual(['box']);
        expect(kept()).toBe(1);
        expect(await seen()).toBe(two);
      });

      it('a sandbox whose first disk was not finished gets another', async () => {
        await crashDuring('disk:filled', 'create', '--name', 'box', ...disk, project.path);
        await until(async () => (await carrel.show('box')).state === 'running', 'the sandbox to run');
        expect((await carrel.show('box')).limits.advisory).not.toContain('diskBytes');
        expect(await agent(carrel, 'box', 'echo x > f; df --output=size -BM /workspace | tail -1')).toMatch(
          /^ *[456]\dM\n$/,
        );
      });
    });
});

describe('an apply of thousands of files', () => {
  const rounds = 2;
  const seed = Number(process.env.CARREL_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

  beforeAll(async () => {
    open('root');
    for (let n = 0; n < 1000; n += 1) project.put(`many/${n % 20}/${n}`, `${n}\n`);
    await carrel.ok('create', '--name', 'box', project.path);
    const script =
      'for d in many/*; do for f in $d/*; do case $f in *1) rm $f;; *) echo more >> $f;; esac; done; mkdir $d/new; for n in $(seq 50); do echo $n > $d/new/$n; done; done';
    await agent(carrel, 'box', script);
  });
  afterAll(close);

  const listed = async () => (await carrel.ok('diff', '--name-status', 'box')).split('\n').length - 1;

  it(`is done or not begun, whenever the daemon is killed (CARREL_TEST_SEED=${seed})`, {
    timeout: 120_000,
  }, async () => {
    const random = randomOf(seed);
    const before = stateOf(project.path);
    const count = await listed();
    expect(count).toBeGreaterThan(1900);
    const from = performance.now();
    await carrel.ok('apply', 'box');
    const lengthMs = performance.now() - from;
    const after = stateOf(project.path);
    await carrel.ok('undo', 'box');
    for (let round = 0; round < rounds; round += 1) {
      const applying = carrel.run(['apply', 'box']);
      await sleep(random() * lengthMs);
      await carrel.killDaemon();
      await applying;
      expect([count, 0]).toContain(await listed());
      expect([before, after]).toContain(stateOf(project.path));
      const done = stateOf(project.path) === after;
      expect(await listed()).toBe(done ? 0 : count);
      if (done) await carrel.ok('undo', 'box');
      expect(stateOf(project.path)).toBe(before);
    }
  });
});

/** Numbers from 0 to 1, the same ones for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
