import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isFault } from '../../src/model/fault.ts';
import { commitApply } from '../../src/noun/workspace/apply/commit/commit.ts';
import { readJournal } from '../../src/noun/workspace/apply/journal.ts';
import { planApply } from '../../src/noun/workspace/apply/plan/plan.ts';
import { undoApply } from '../../src/noun/workspace/apply/undo.ts';
import type { Change } from '../../src/noun/workspace/model/change.ts';
import {
  alsoChanged,
  apply,
  type Bench,
  bench,
  everyBase,
  everyTaken,
  everyTheirs,
  freshFolder,
  isClean,
  open,
  outcomesOf,
  planOf,
} from '../fixtures/apply-bench.ts';
import { file, folder, hardLink, harvest, link, plant, separate, type Tree } from '../fixtures/tree.ts';
import { markedName } from '../harness/run.ts';

function faultOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    if (isFault(error)) return error.toJSON();
    throw error;
  }
  return null;
}

/** The work may be refused. */
function attempt(work: () => unknown): void {
  faultOf(work);
}

describe('an apply', () => {
  it('gives the project the versions of the agent, and its undo restores the project', () => {
    const one = bench(everyBase, everyBase, everyTheirs);
    const before = harvest(one.project);
    expect(new Set(Object.values(apply(one)))).toEqual(new Set(['take']));
    expect(harvest(one.project)).toEqual(everyTaken);
    expect(readJournal(one.journal)).toMatchObject({ state: 'done', meta: { sandboxes: ['ada'] } });
    undoApply(one.journal);
    expect(harvest(one.project)).toEqual(before);
    expect(readJournal(one.journal).state).toBe('undone');
    expect(readdirSync(one.journal)).toEqual(['journal.json']);
  });

  describe('a file with several hard links', () => {
    const one = hardLink('a', file('new'));
    const theirs: Tree = { a: one, b: one, keep: hardLink('keep', file('k')), more: hardLink('keep', file('k')) };
    const base: Tree = { keep: file('k') };

    it('in the sandbox becomes a file of its own at each path', () => {
      const here = bench(base, base, theirs);
      expect(apply(here)).toEqual({ a: 'take', b: 'take', more: 'take' });
      expect(harvest(here.project)).toEqual(separate(theirs));
      undoApply(here.journal);
      expect(harvest(here.project)).toEqual(base);
    });

    it('in the sandbox is taken under one path while a gate holds the other back', () => {
      const here = bench(base, base, {
        ...base,
        '.envrc': hardLink('.envrc', file('x')),
        plain: hardLink('.envrc', file('x')),
      });
      expect(apply(here, { resolution: 'leave', allow: [] })).toEqual({ '.envrc': 'left', plain: 'take' });
      expect(harvest(here.project)).toEqual({ ...base, plain: file('x') });
    });

    it('in the project is split where the agent changed it; names outside of the project keep content and mode', () => {
      const old = { a: hardLink('a', file('old')), b: hardLink('a', file('old')), mode: file('m'), both: file('b') };
      const changed = { a: file('new'), b: file('old'), mode: file('m', 0o755), both: file('b', 0o755) };
      // The owner changed the content of `both`, so the apply sets only its mode.
      const ours = { ...old, both: file('owner') };
      const here = bench(old, ours, changed);
      const outside = freshFolder();
      for (const name of ['a', 'mode', 'both']) linkSync(join(here.project, name), join(outside, name));
      const linked = harvest(outside);
      apply(here);
      expect(harvest(here.project)).toEqual({ ...changed, both: file('owner', 0o755) });
      expect(harvest(outside)).toEqual(linked);
      undoApply(here.journal);
      expect([harvest(here.project), harvest(outside)]).toEqual([ours, linked]);
    });

    it('in the project is restored by an undo, as separate files if the journal is on another filesystem', () => {
      const elsewhere = mkdtempSync(`/dev/shm/${markedName('apply-')}`);
      try {
        const old = { a: hardLink('a', file('old')), b: hardLink('a', file('old')) };
        const here = bench(old, old, { a: one, b: one }, elsewhere);
        expect(statSync(elsewhere).dev).not.toBe(statSync(here.root).dev);
        apply(here);
        expect(harvest(here.project)).toEqual({ a: file('new'), b: file('new') });
        undoApply(here.journal);
        expect(harvest(here.project)).toEqual(separate(old));
      } finally {
        rmSync(elsewhere, { recursive: true });
      }
    });

    it('outside of the project is never written to by way of a path that becomes a link to it meanwhile', () => {
      const outside = join(freshFolder(), 'outside');
      writeFileSync(outside, 'k', { mode: 0o644 });
      for (const changed of [file('new'), file('k', 0o755)])
        for (const swap of [
          (keep: string) => symlinkSync(outside, keep),
          (keep: string) => linkSync(outside, keep),
          (keep: string) => writeFileSync(keep, 'k'),
        ]) {
          const here = bench(base, base, { keep: changed });
          const plan = planOf(here);
          rmSync(join(here.project, 'keep'));
          swap(join(here.project, 'keep'));
          const before = harvest(here.project);
          expect(() => commitApply(plan, here.project, here.journal, null)).toThrow(
            'the project changed meanwhile: keep',
          );
          expect(harvest(here.project)).toEqual(before);
          expect([readFileSync(outside, 'utf8'), statSync(outside).mode & 0o777]).toEqual(['k', 0o644]);
        }
    });

    it.each<[string, Tree, Tree, Tree]>([
      ['whose content was taken', base, { keep: file('new') }, { keep: file('new') }],
      ['whose content and mode were taken', base, { keep: file('new', 0o755) }, { keep: file('new', 0o755) }],
      ['whose mode was taken', { keep: file('owner') }, { keep: file('k', 0o755) }, { keep: file('owner', 0o755) }],
    ])(
      'outside of the project is never written to by an undo of a path %s and that is a link to it',
      (_, ours, agent, taken) => {
        for (const swap of [symlinkSync, linkSync]) {
          const here = bench(base, ours, agent);
          apply(here);
          expect(harvest(here.project)).toEqual(taken);
          const outside = freshFolder();
          plant(outside, taken);
          rmSync(join(here.project, 'keep'));
          swap(join(outside, 'keep'), join(here.project, 'keep'));
          attempt(() => undoApply(here.journal));
          expect(harvest(outside)).toEqual(taken);
        }
      },
    );
  });

  it('has no steps the second time', () => {
    const one = bench(everyBase, everyBase, everyTheirs);
    apply(one);
    const again = planOf(one);
    expect(new Set(Object.values(outcomesOf(again)))).toEqual(new Set(['same']));
    expect(again.steps).toEqual([]);
  });

  it('merges content and permissions separately', () => {
    const lines = (first: string, last: string) => `${first}\n2\n3\n4\n5\n6\n7\n${last}\n`;
    const one = bench(
      { f: file(lines('1', '8')), m: file('m') },
      { f: file(lines('one', '8')), m: file('M') },
      { f: file(lines('1', 'eight'), 0o755), m: file('m', 0o700) },
    );
    expect(apply(one)).toEqual({ f: 'merge', m: 'merge' });
    expect(harvest(one.project)).toEqual({ f: file(lines('one', 'eight'), 0o755), m: file('M', 0o700) });
  });

  it('keeps the owner of replaced files, and gives new files the owner of the project', () => {
    const one = bench({ f: file('b') }, { f: file('b') }, { f: file('t'), g: file('n') });
    const { uid } = statSync(one.project);
    apply(one);
    expect([statSync(join(one.project, 'f')).uid, statSync(join(one.project, 'g')).uid]).toEqual([uid, uid]);
  });

  it('takes only the requested paths, with the folders they need', () => {
    const theirs = { d: folder(0o700), 'd/e': folder(), 'd/e/f': file('x'), 'd/g': file('g') };
    const one = bench({}, {}, theirs);
    expect(apply(one, { ...open, paths: ['d/e/f'] })).toEqual({ 'd/e/f': 'take' });
    expect(harvest(one.project)).toEqual({ d: folder(0o700), 'd/e': folder(), 'd/e/f': file('x') });
    undoApply(one.journal);
    expect(harvest(one.project)).toEqual({});
    expect(faultOf(() => planOf(one, { ...open, paths: ['d', 'no/such'] }))).toMatchObject({
      code: 'not_found',
      data: { paths: ['no/such'] },
    });
  });

  it('leaves folders that the owner put something into', () => {
    const one = bench(
      { d: folder(), 'd/x': file('x'), e: folder(), 'e/x': file('x') },
      { d: folder(), 'd/x': file('x'), 'd/mine': file('m'), e: folder(), 'e/x': file('x') },
      {},
    );
    expect(apply(one)).toEqual({ d: 'same', 'd/x': 'take', e: 'take', 'e/x': 'take' });
    expect(harvest(one.project)).toEqual({ d: folder(), 'd/mine': file('m') });
  });

  it('does not take a file that grew while it was read', () => {
    const one = bench({}, {}, { f: file('x') });
    const plan = planOf(one);
    writeFileSync(join(one.root, 'theirs/f'), 'longer');
    expect(faultOf(() => commitApply(plan, one.project, one.journal, {}))).toMatchObject({ code: 'conflict' });
    expect(harvest(one.project)).toEqual({});
  });
});

describe('a conflict', () => {
  const base: Tree = { f: file('b\n'), d: file('d'), bin: file('b\0'), free: file('1') };
  const ours: Tree = { f: file('o\n'), d: file('D'), bin: file('o\0'), free: file('1') };
  const theirs: Tree = { f: file('t\n'), bin: file('t\0'), free: file('2') };

  it('blocks the whole apply, with the reason for each path', () => {
    const one = bench(base, ours, theirs);
    const plan = planOf(one);
    expect(outcomesOf(plan)).toEqual({ f: 'conflict', d: 'conflict', bin: 'conflict', free: 'take' });
    const reasons = Object.fromEntries(plan.paths.map(({ path, conflict }) => [path, conflict?.reason]));
    expect(reasons).toMatchObject({
      f: 'both changed the same lines',
      bin: 'both changed it, and it is not text',
      d: 'the agent deleted it, the project changed it',
    });
    expect(faultOf(() => commitApply(plan, one.project, one.journal, {}))).toMatchObject({ code: 'conflict' });
    expect(harvest(one.project)).toEqual(ours);
  });

  it('is decided by the resolution', () => {
    const theirsWin = bench(base, ours, theirs);
    expect(apply(theirsWin, { ...open, resolution: 'theirs' })).toMatchObject({
      f: 'theirs',
      d: 'theirs',
      free: 'take',
    });
    expect(harvest(theirsWin.project)).toEqual(theirs);
    for (const [resolution, outcome] of [
      ['ours', 'ours'],
      ['leave', 'left'],
    ] as const) {
      const one = bench(base, ours, theirs);
      expect(apply(one, { ...open, resolution })).toEqual({ f: outcome, d: outcome, bin: outcome, free: 'take' });
      expect(harvest(one.project)).toEqual({ ...ours, free: file('2') });
    }
  });

  it.each(['ours', 'leave'] as const)(
    'with the new name of a renamed file keeps the file under its old one: %s',
    (resolution) => {
      const [a, other] = [file('the content'), file('an other')];
      const one = bench({ a, free: file('1') }, { a, b: other, free: file('1') }, { b: a, free: file('2') });
      const outcome = resolution === 'ours' ? 'ours' : 'left';
      expect(apply(one, { ...open, resolution })).toEqual({ a: outcome, b: outcome, free: 'take' });
      expect(harvest(one.project)).toEqual({ a, b: other, free: file('2') });
    },
  );

  it('about a path that the agent may never have seen deletes nothing, whatever the resolution', () => {
    const seen: Tree = { d: folder(), 'd/seen': file('s') };
    const one = bench(seen, { ...seen, 'd/new': file('n') }, {});
    const now = { type: 'file', mode: 0o644, sizeBytes: 1, target: null } as const;
    const unsure: Change = {
      ...{ path: 'd/new', before: now, after: null, afterContent: null },
      beforeContent: { at: 'tree', root: one.project },
      ...{ baseKnown: false, perhapsUnseen: true },
    };
    const asked = { ...one, changes: [...one.changes, unsure] };
    expect(outcomesOf(planOf(asked))['d/new']).toBe('conflict');
    expect(apply(asked, { ...open, resolution: 'theirs' })).toEqual({ d: 'same', 'd/seen': 'take', 'd/new': 'left' });
    expect(harvest(one.project)).toEqual({ d: folder(), 'd/new': file('n') });
  });

  it('is written into the file if markers are possible, and stays a conflict otherwise', () => {
    const one = bench(base, ours, theirs);
    expect(outcomesOf(planOf(one, { ...open, resolution: 'markers' }))).toMatchObject({ f: 'markers', d: 'conflict' });
    const only = { ...open, resolution: 'markers', paths: ['f'] } as const;
    expect(apply(one, only)).toEqual({ f: 'markers' });
    expect(readFileSync(join(one.project, 'f'), 'utf8')).toBe(
      '<<<<<<< project\no\n||||||| base\nb\n=======\nt\n>>>>>>> ada\n',
    );
  });

  it('is the outcome without a known base', () => {
    const one = bench({ f: file('b') }, { f: file('b') }, { f: file('t') });
    const unknown: Bench = { ...one, changes: one.changes.map((change) => ({ ...change, baseKnown: false })) };
    expect(outcomesOf(planOf(unknown))).toEqual({ f: 'conflict' });
    expect(apply(unknown, { ...open, resolution: 'theirs' })).toEqual({ f: 'theirs' });
  });

  it('is the outcome if the base is lost or the file is too large', () => {
    const one = bench({ f: file('1\n2\n3\n') }, { f: file('one\n2\n3\n') }, { f: file('1\n2\nthree\n') });
    const lost = one.changes.map((change) => ({ ...change, beforeContent: { at: 'lost' } as const }));
    expect(planOf({ ...one, changes: lost }).paths[0]?.conflict?.reason).toMatch(/no longer kept/);
    const big = (text: string) => ({ f: file(text + 'x\n'.repeat(2 << 20)) });
    expect(planOf(bench(big('b'), big('o'), big('t'))).paths[0]?.conflict?.reason).toMatch(/too large to merge/);
  });

  it('never empties a folder of the owner', () => {
    const one = bench({ d: folder() }, { d: folder(), 'd/mine': file('m') }, { d: file('t') });
    for (const resolution of [null, 'theirs', 'markers'] as const)
      expect(outcomesOf(planOf(one, { ...open, resolution }))).toEqual({ d: 'conflict' });
  });
});

describe('gates', () => {
  const theirs: Tree = { '.envrc': file('evil'), 'package.json': file('{"scripts":{"x":"y"}}'), free: file('x') };

  it('block the whole apply until they are allowed', () => {
    const one = bench({}, {}, theirs);
    const shut = planOf(one, { resolution: null, allow: ['env'] });
    expect([outcomesOf(shut), shut.blocked]).toEqual([
      { '.envrc': 'take', 'package.json': 'gated', free: 'take' },
      true,
    ]);
    expect(apply(one, { resolution: 'leave', allow: [] })).toEqual({
      '.envrc': 'left',
      'package.json': 'left',
      free: 'take',
    });
    expect(apply(one, open)).toMatchObject({ '.envrc': 'take', 'package.json': 'take' });
  });

  it('let only the content pass that they checked', () => {
    const one = bench({}, {}, { 'package.json': file('{"name":"a"}') });
    const plan = planOf(one, { resolution: null, allow: [] });
    writeFileSync(join(one.root, 'theirs/package.json'), '{"bin":"x"}!');
    expect(faultOf(() => commitApply(plan, one.project, one.journal, {}))).toMatchObject({ code: 'conflict' });
    expect(harvest(one.project)).toEqual({});
  });

  it('keep only the hash of checked content in memory', () => {
    const one = bench({}, {}, { config: file('\0'.repeat(1024)) });
    const [step] = planOf(one).steps;
    expect(step).toMatchObject({
      make: { source: { from: 'content' }, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
  });

  it('check the merged content', () => {
    const text = (name: string, script: string) =>
      `{\n"name":"${name}",\n"a":1,\n"b":2,\n"c":3,\n"scripts":{"x":"${script}"}\n}\n`;
    const one = bench(
      { 'package.json': file(text('n', 's')) },
      { 'package.json': file(text('m', 's')) },
      { 'package.json': file(text('n', 'evil')) },
    );
    expect(outcomesOf(planOf(one, { ...open, allow: [] }))).toEqual({ 'package.json': 'gated' });
  });
});

describe('several sandboxes', () => {
  it('are one apply, and each is decided on the result of those before it', () => {
    const body = (a: string, b: string) => `${a}\n2\n3\n4\n5\n6\n${b}\n`;
    const base: Tree = { f: file(body('1', '7')), g: file('g\n'), d: folder(), 'd/x': file('x') };
    const one = bench(base, base, { f: file(body('a', '7')), g: file('ada\n') });
    const eve = alsoChanged(one, 'eve', { ...base, f: file(body('1', 'e')), g: file('eve\n'), 'd/new': file('n') });
    const sources = [
      { sandbox: 'ada', changes: one.changes },
      { sandbox: 'eve', changes: eve },
    ];
    const blocked = planApply(sources, one.project, open);
    expect(blocked.paths.find(({ outcome }) => outcome === 'conflict')).toMatchObject({
      path: 'g',
      sandbox: 'eve',
      conflict: { with: 'ada', reason: 'both changed the same lines' },
    });
    const plan = planApply(sources, one.project, { ...open, resolution: 'ours' });
    expect(plan.paths.map(({ sandbox, path, outcome }) => `${sandbox} ${path} ${outcome}`)).toEqual([
      ...['ada d take', 'ada d/x take', 'ada f take', 'ada g take'],
      ...['eve d/new take', 'eve f merge', 'eve g ours'],
    ]);
    commitApply(plan, one.project, one.journal, {});
    const merged = { f: file(body('a', 'e')), g: file('ada\n'), d: folder(), 'd/new': file('n') };
    expect(harvest(one.project)).toEqual(merged);
    undoApply(one.journal);
    expect(harvest(one.project)).toEqual(base);
  });
});

describe('a project with links, or that changes meanwhile,', () => {
  const base: Tree = { d: folder(), 'd/f': file('b'), 'd/gone': file('g') };
  const theirs: Tree = { d: folder(), 'd/f': file('t'), 'd/new': file('n') };

  it.each(['ours', 'theirs', 'leave', null] as const)('is never written through a link (%s)', (resolution) => {
    const one = bench(base, {}, theirs);
    const outside = freshFolder();
    plant(outside, { f: file('b'), gone: file('g') });
    symlinkSync(outside, join(one.project, 'd'));
    const plan = planOf(one, { ...open, resolution });
    expect(outcomesOf(plan)).toMatchObject({ 'd/gone': 'same' });
    if (!plan.blocked) commitApply(plan, one.project, one.journal, {});
    expect(harvest(outside)).toEqual({ f: file('b'), gone: file('g') });
  });

  it('is not written through a link either that appears after planning', () => {
    const one = bench(base, base, theirs);
    const plan = planOf(one);
    const outside = join(one.root, 'outside');
    renameSync(join(one.project, 'd'), outside);
    symlinkSync(outside, join(one.project, 'd'));
    expect(faultOf(() => commitApply(plan, one.project, one.journal, {}))).toMatchObject({ code: 'conflict' });
    expect(harvest(outside)).toEqual({ f: file('b'), gone: file('g') });
    expect(harvest(one.project)).toEqual({ d: link(outside) });
  });

  it('gives a conflict for a file in the place of a folder of the agent', () => {
    const one = bench({}, { d: file('mine') }, theirs);
    expect(outcomesOf(planOf(one))).toEqual({ d: 'conflict', 'd/f': 'conflict', 'd/new': 'conflict' });
    expect(apply(one, { ...open, resolution: 'theirs' })).toEqual({ d: 'theirs', 'd/f': 'take', 'd/new': 'take' });
    undoApply(one.journal);
    expect(harvest(one.project)).toEqual({ d: file('mine') });
  });

  it.each<[string, (project: string) => void]>([
    ['edited', (project) => writeFileSync(join(project, 'f'), 'mine')],
    ['replaced', (project) => renameSync(join(project, 'other'), join(project, 'f'))],
    ['deleted', (project) => rmSync(join(project, 'f'))],
    ['forbidden', (project) => chmodSync(join(project, 'f'), 0)],
    ['made a folder', (project) => [rmSync(join(project, 'f')), mkdirSync(join(project, 'f'))]],
    ['added', (project) => writeFileSync(join(project, 'z'), 'mine')],
  ])('stays as it is if a path is %s between plan and exchange', (_, meanwhile) => {
    const start: Tree = { a: file('a'), f: file('b'), other: file('o') };
    const one = bench(start, start, { a: file('A'), f: file('t'), other: file('o'), z: file('z') });
    const plan = planOf(one);
    meanwhile(one.project);
    const now = harvest(one.project);
    expect(faultOf(() => commitApply(plan, one.project, one.journal, {}))).toMatchObject({ code: 'conflict' });
    expect(harvest(one.project)).toEqual(now);
    expect([isClean(one.project), readdirSync(one.root).includes('journal')]).toEqual([true, false]);
  });
});
