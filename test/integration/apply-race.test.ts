/** The owner is at work in the very moment of a rename, after everything was looked at. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { Place } from '../../src/lib/sys.ts';
import { commitApply } from '../../src/workspace/apply/commit.ts';
import { bench, isClean, planOf } from '../fixtures/apply-bench.ts';
import { file, folder, harvest, type Tree } from '../fixtures/tree.ts';

/** Called once, before the rename of that name. */
const moment = vi.hoisted(() => ({ name: '', act: (): unknown => null }));
vi.mock('../../src/lib/sys.ts', async (original) => {
  const real = await original<typeof import('../../src/lib/sys.ts')>();
  const after = (rename: typeof real.renameExchange) => (one: Place, other: Place) => {
    const names = [one.name, other.name].map((name) => Buffer.from(name).toString());
    if (names.includes(moment.name)) {
      moment.name = '';
      moment.act();
    }
    rename(one, other);
  };
  return { ...real, renameExchange: after(real.renameExchange), renameNoReplace: after(real.renameNoReplace) };
});

const base: Tree = { a: file('a'), f: file('base'), gone: file('g'), other: file('other') };
const theirs: Tree = { a: file('A'), f: file('theirs'), new: file('n'), other: file('other') };

type Act = (project: string) => unknown;
it.each<[string, string, Act, Tree]>([
  ['replaces a file', 'f', (at) => renameSync(join(at, 'other'), join(at, 'f')), { f: file('other') }],
  ['edits a file', 'f', (at) => writeFileSync(join(at, 'f'), 'mine'), { f: file('mine') }],
  [
    'makes a file a folder',
    'f',
    (at) => [rmSync(join(at, 'f')), mkdirSync(join(at, 'f')), writeFileSync(join(at, 'f/x'), 'x')],
    { f: folder(), 'f/x': file('x') },
  ],
  ['deletes a file', 'f', (at) => rmSync(join(at, 'f')), {}],
  ['edits what is to go', 'gone', (at) => writeFileSync(join(at, 'gone'), 'mine'), { gone: file('mine') }],
  ['replaces what is to go', 'gone', (at) => renameSync(join(at, 'other'), join(at, 'gone')), { gone: file('other') }],
  ['adds what is new', 'new', (at) => writeFileSync(join(at, 'new'), 'mine', { mode: 0o644 }), { new: file('mine') }],
])('%s', (_, name, act, result) => {
  const one = bench(base, base, theirs);
  const plan = planOf(one);
  Object.assign(moment, { name, act: () => act(one.project) });
  expect(() => commitApply(plan, one.project, one.journal, {})).toThrow(/the project changed meanwhile/);
  expect(moment.name).toBe('');
  const { [name]: _changed, ...rest } = base;
  const now = harvest(one.project);
  expect({ other: rest.other, ...now }).toEqual({ ...rest, ...result });
  expect(isClean(one.project)).toBe(true);
});
