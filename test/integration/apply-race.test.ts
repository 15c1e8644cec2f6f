/** The owner changes the project right before a rename of the apply, after the apply has checked everything. */
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { FolderEntry } from '../../src/lib/sys/sys.ts';
import type { Fault } from '../../src/model/fault.ts';
import { commitApply } from '../../src/noun/workspace/apply/commit/commit.ts';
import { type Bench, bench, isClean, planOf } from '../fixtures/apply-bench.ts';
import { file, folder, harvest, type Tree } from '../fixtures/tree.ts';

/** Called once, before the rename of that name. */
const moment = vi.hoisted(() => ({ name: '', act: (): unknown => null }));
vi.mock('../../src/lib/sys/sys.ts', async (original) => {
  const real = await original<typeof import('../../src/lib/sys/sys.ts')>();
  const after = (rename: typeof real.renameExchange) => (one: FolderEntry, other: FolderEntry) => {
    const names = [one.name, other.name].map((name) => Buffer.from(name).toString());
    if (names.includes(moment.name)) {
      moment.name = '';
      moment.act();
    }
    rename(one, other);
  };
  return { ...real, renameExchange: after(real.renameExchange), renameNoReplace: after(real.renameNoReplace) };
});

type Act = (project: string) => unknown;

describe('while a refused apply is rolled back, the owner', () => {
  const base: Tree = { a: file('a'), f: file('base') };
  const theirs: Tree = { a: file('A'), f: file('theirs'), new: file('n') };
  const acts: Record<string, [string, Act, Tree]> = {
    edits: ['a', (at) => appendFileSync(join(at, 'a'), ' and mine'), { a: file('A and mine') }],
    replaces: ['a', (at) => renameSync(join(at, 'mine'), join(at, 'a')), { a: file('mine') }],
    'edits what is new': ['new', (at) => appendFileSync(join(at, 'new'), ' and mine'), { new: file('n and mine') }],
  };

  /** Runs an apply that is refused at its last step; the owner acts right before the rename that rolls `name` back. */
  function refused(one: Bench, name: string, act: () => unknown, first = (): unknown => null): Fault {
    const plan = planOf(one);
    const back = () => Object.assign(moment, { name, act });
    Object.assign(moment, {
      name: 'z-last',
      act: () => [first(), writeFileSync(join(one.project, 'z-last'), 'taken'), back()],
    });
    let fault: unknown;
    try {
      commitApply(plan, one.project, one.journal, {});
    } catch (error) {
      fault = error;
    }
    expect(moment.name).toBe('');
    return fault as Fault;
  }

  it.each(Object.keys(acts))('%s: the text of the owner stays, and the replaced file is kept', (key) => {
    const [name, act, result] = acts[key]!;
    const one = bench(base, base, { ...theirs, 'z-last': file('l') });
    writeFileSync(join(one.project, 'mine'), 'mine', { mode: 0o644 });
    const fault = refused(one, name, () => act(one.project));
    expect(fault.message).toMatch(/not all of it could be taken back/);
    expect(fault.data).toEqual({ left: [name] });
    const { mine: _, 'z-last': __, ...now } = harvest(one.project);
    expect(now).toEqual({ ...base, ...result });
    const kept = readdirSync(join(one.journal, 'old')).map((slot) =>
      readFileSync(join(one.journal, 'old', slot), 'utf8'),
    );
    expect(kept).toEqual(name === 'a' ? ['a'] : []);
    expect(isClean(one.project)).toBe(true);
  });

  it('writes to an open file that was rolled back already: the write stays', () => {
    const one = bench(base, base, { ...theirs, 'z-last': file('l') });
    let open = -1;
    const reopen = () => {
      open = openSync(join(one.project, 'new'), 'a');
    };
    const fault = refused(one, 'a', () => writeSync(open, ' and mine'), reopen);
    closeSync(open);
    expect(fault.data).toEqual({ left: ['new'] });
    expect(readFileSync(join(one.project, 'new'), 'utf8')).toBe('n and mine');
  });
});

const base: Tree = { a: file('a'), f: file('base'), gone: file('g'), other: file('other') };
const theirs: Tree = { a: file('A'), f: file('theirs'), new: file('n'), other: file('other') };

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
])('an apply is rolled back if the owner meanwhile %s', (_, name, act, result) => {
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
