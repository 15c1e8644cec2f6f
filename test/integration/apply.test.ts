import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Change, GateKind, Outcome, Resolution } from '../../src/model/change.ts';
import { commitApply, readJournal, recover, undoApply } from '../../src/workspace/commit.ts';
import { type ApplyOptions, planApply } from '../../src/workspace/plan-apply.ts';
import { at, changesBetween, file, folder, harvest, link, plant, type Tree } from '../fixtures/tree.ts';

const top = mkdtempSync(join(tmpdir(), 'carrel-apply-test-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));

let count = 0;
interface Bench {
  readonly project: string;
  readonly journal: string;
  readonly changes: Change[];
}

/** A project and an agent's tree that both came from one base. */
function bench(base: Tree, ours: Tree, theirs: Tree): Bench {
  count += 1;
  const root = join(top, `${count}`);
  plant(join(root, 'base'), base);
  plant(join(root, 'project'), ours);
  plant(join(root, 'theirs'), theirs);
  const changes = changesBetween(join(root, 'base'), join(root, 'theirs'));
  return { project: join(root, 'project'), journal: join(root, 'journal'), changes };
}

const allGates: GateKind[] = [
  'git-hooks',
  'git-config',
  'attributes',
  'env',
  'editor',
  'agent',
  'ci',
  'scripts',
  'executable',
  'symlink',
];
const open: ApplyOptions = { resolution: null, allow: allGates };

function apply({ project, journal, changes }: Bench, options = open): Record<string, Outcome> {
  const plan = planApply([{ sandbox: 'ada', changes }], project, options);
  commitApply(plan, project, journal, { sandboxes: ['ada'] });
  return Object.fromEntries(plan.paths.map(({ path, outcome }) => [path, outcome]));
}

describe('an apply', () => {
  const base: Tree = {
    a: file('one\n'),
    gone: file('x'),
    dir: folder(),
    'dir/in': file('in'),
    deep: folder(),
    'deep/x': file('x'),
    'deep/y': folder(),
    'deep/y/z': file('z'),
    l: link('a'),
    run: file('#!/bin/sh\n'),
    swap: file('s'),
    fold: folder(),
    'fold/f': file('f'),
    shut: folder(),
    keep: file('k'),
  };
  const theirs: Tree = {
    a: file('two\n'),
    dir: folder(0o700),
    'dir/in': file('in'),
    'dir/new': file('n', 0o600),
    l: link('keep'),
    run: file('#!/bin/sh\n', 0o755),
    swap: folder(),
    'swap/inner': file('i'),
    fold: file('now a file'),
    shut: folder(0o555),
    'shut/s': file('s', 0o400),
    keep: file('k'),
    'na\nme\xff\xfe': file('odd'),
    'odd\xff': folder(0o500),
    'odd\xff/\xfe': link('\xfd'),
  };

  it('makes the project what the agent has, and its undo what the project was', () => {
    const one = bench(base, base, theirs);
    const before = harvest(one.project);
    const outcomes = apply(one);
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['take']));
    expect(harvest(one.project)).toEqual(theirs);
    expect(readJournal(one.journal)).toMatchObject({ state: 'done', meta: { sandboxes: ['ada'] } });
    undoApply(one.journal);
    expect(harvest(one.project)).toEqual(before);
    expect(readJournal(one.journal).state).toBe('undone');
    expect(readdirSync(one.journal)).toEqual(['journal.json']);
  });
});
