// @takes 45 s
/**
 * The daemon is killed between every two steps of apply and undo. The next command finds the operation done or not
 * begun, never partly done, and the paused sandbox running again.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { agent, apply, changesOf, stateOf, ways } from '../harness/project.ts';
import { carrel, close, counting, crashDuring, goesOn, open, project } from './workspace-crash.ts';

/** An apply that dies before its journal is complete does nothing; from then on it will be completed. */
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

  it.each(way === 'root' ? applyPoints : few)('that dies at %s is all or nothing', async (point) => {
    await crashDuring(point, 'apply', 'box');
    expect(await changesOf(carrel, 'box')).toEqual(isEarly(point) ? changes : []);
    expect(stateOf(project.path)).toBe(isEarly(point) ? before : after);
    await goesOn(id);
    if (isEarly(point)) await apply(carrel, 'box');
    expect(stateOf(project.path)).toBe(after);
    await carrel.ok('undo', 'box');
    expect(await changesOf(carrel, 'box')).toEqual(changes);
  });

  it.each(way === 'root' ? undoPoints : few)('whose undo dies at %s is undone or kept', async (point) => {
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
