/**
 * The daemon is killed between every two steps of apply and undo, and at random moments. The next command finds each of
 * them done or not begun, nothing half made, and the sandbox that was held still meanwhile going on.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { agent, apply, changesOf, stateOf, ways } from '../harness/project.ts';
import { carrel, close, counting, crashDuring, goesOn, open, project } from './workspace-crash.ts';

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
