// @takes 50 s
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { detachMount, mount } from '../../src/lib/sys/sys-mount.ts';
import { asFault } from '../../src/model/fault.ts';
import { commitApply } from '../../src/noun/workspace/apply/commit/commit.ts';
import { readJournal } from '../../src/noun/workspace/apply/journal.ts';
import { recover } from '../../src/noun/workspace/apply/recover.ts';
import { undoApply } from '../../src/noun/workspace/apply/undo.ts';
import {
  apply,
  type Bench,
  bench,
  everyBase,
  everyTaken,
  everyTheirs,
  freshFolder,
  isClean,
  planOf,
  writeInput,
} from '../fixtures/apply-bench.ts';
import { file, folder, harvest, separate, type Tree } from '../fixtures/tree.ts';

const once = join(import.meta.dirname, '../fixtures/apply-once.mjs');

/** Runs the action in a process that is killed at the point; false: the process never got there. */
function crashes(action: 'apply' | 'undo' | 'recover', one: Bench, point: string): boolean {
  const { signal, status, stderr } = spawnSync('node', [once, action, writeInput(one)], {
    env: { ...process.env, CARREL_CRASH_AT: `apply:${point}` },
  });
  if (signal === null && status !== 0) throw new Error(stderr.toString());
  return signal === 'SIGKILL';
}

/** The number of steps of the apply of everything, including the final modes of read-only folders. */
const stepCount = 27;
const steps = Array.from({ length: stepCount }, (_, n) => `step:${n}`);
const early = ['staging-made', 'staged'];
const late = ['ready', ...steps, 'steps-done', 'old-kept', 'done', 'cleaned'];

describe('a crash during an apply', () => {
  it.each(early)('at %s is rolled back', (point) => {
    const one = bench(everyBase, everyBase, everyTheirs);
    expect(crashes('apply', one, point)).toBe(true);
    expect(recover(one.journal)).toEqual({ outcome: 'rolled-back', left: [] });
    expect(harvest(one.project)).toEqual(harvest(join(one.root, 'base')));
    expect([isClean(one.project), existsSync(one.journal)]).toEqual([true, false]);
    expect(recover(one.journal)).toEqual({ outcome: 'nothing', left: [] });
  });

  it.each(late)('at %s is finished', (point) => {
    const one = bench(everyBase, everyBase, everyTheirs);
    expect(crashes('apply', one, point)).toBe(true);
    expect(recover(one.journal)).toEqual({ outcome: 'done', left: [] });
    expect(harvest(one.project)).toEqual(everyTaken);
    expect(recover(one.journal)).toEqual({ outcome: 'done', left: [] });
    undoApply(one.journal);
    expect(harvest(one.project)).toEqual(harvest(join(one.root, 'base')));
  });

  it('has a point after each step', () => {
    const one = bench(everyBase, everyBase, everyTheirs);
    expect(crashes('apply', one, `step:${stepCount}`)).toBe(false);
    expect(readJournal(one.journal).steps.length).toBe(stepCount);
  });

  it.each(['step:3', 'step:9', 'steps-done', 'old-kept', 'done'])(
    'and another at %s during recovery are finished',
    (point) => {
      const one = bench(everyBase, everyBase, everyTheirs);
      expect(crashes('apply', one, 'step:6')).toBe(true);
      expect(crashes('recover', one, point)).toBe(true);
      expect(recover(one.journal)).toEqual({ outcome: 'done', left: [] });
      expect([harvest(one.project), isClean(one.project)]).toEqual([everyTaken, true]);
    },
  );
});

describe('a crash during an undo', () => {
  it.each(early)('at %s leaves the apply in effect', (point) => {
    const one = bench(everyBase, everyBase, everyTheirs);
    apply(one);
    expect(crashes('undo', one, point)).toBe(true);
    expect(recover(one.journal).outcome).toBe('done');
    expect(harvest(one.project)).toEqual(everyTaken);
    undoApply(one.journal);
    expect(harvest(one.project)).toEqual(harvest(join(one.root, 'base')));
  });

  it.each(['ready', 'step:0', 'step:5', 'step:10', 'steps-done', 'old-kept', 'done', 'cleaned'])(
    'at %s is finished',
    (point) => {
      const one = bench(everyBase, everyBase, everyTheirs);
      apply(one);
      expect(crashes('undo', one, point)).toBe(true);
      expect(recover(one.journal)).toEqual({ outcome: 'undone', left: [] });
      expect(harvest(one.project)).toEqual(harvest(join(one.root, 'base')));
      expect([isClean(one.project), readJournal(one.journal).state]).toEqual([true, 'undone']);
    },
  );

  it('after it is recorded leaves no kept file after the recovery', () => {
    const one = bench(everyBase, everyBase, everyTheirs);
    apply(one);
    expect(crashes('undo', one, 'undo-marked')).toBe(true);
    expect(recover(one.journal)).toEqual({ outcome: 'undone', left: [] });
    expect(readdirSync(one.journal)).toEqual(['journal.json']);
  });
});

describe('the owner between a crash and recovery', () => {
  const base: Tree = { a: file('a'), b: file('b'), c: file('c'), d: folder(), 'd/e': file('e') };
  const theirs: Tree = { a: file('A'), b: file('B'), c: file('C'), n: folder(), 'n/m': file('m') };

  it.each(['ready', 'step:0', 'step:1', 'step:2', 'step:3'])(
    'edits the last path: the apply is rolled back (after %s)',
    (point) => {
      const one = bench(base, base, { ...theirs, z: file('z') });
      expect(crashes('apply', one, point)).toBe(true);
      writeFileSync(join(one.project, 'z'), 'mine', { mode: 0o644 });
      expect(recover(one.journal)).toEqual({ outcome: 'rolled-back', left: [] });
      expect(harvest(one.project)).toEqual({ ...base, z: file('mine') });
      expect([isClean(one.project), existsSync(one.journal)]).toEqual([true, false]);
    },
  );

  it('edits a path that was not exchanged yet, so that the apply is rolled back', () => {
    const one = bench(base, base, theirs);
    expect(crashes('apply', one, 'step:3')).toBe(true);
    writeFileSync(join(one.project, 'c'), 'mine');
    expect(recover(one.journal)).toEqual({ outcome: 'rolled-back', left: [] });
    expect(harvest(one.project)).toEqual({ ...base, c: file('mine') });
    expect([isClean(one.project), existsSync(one.journal)]).toEqual([true, false]);
  });

  it('also edits a path that was exchanged, which stays, and the replaced file is kept', () => {
    const one = bench(base, base, theirs);
    expect(crashes('apply', one, 'step:3')).toBe(true);
    expect(readFileSync(join(one.project, 'a'), 'utf8')).toBe('A');
    writeFileSync(join(one.project, 'a'), 'edited');
    writeFileSync(join(one.project, 'c'), 'mine');
    expect(recover(one.journal)).toEqual({ outcome: 'rolled-back', left: ['a'] });
    expect(harvest(one.project)).toEqual({ ...base, a: file('edited'), c: file('mine') });
    const [kept] = readdirSync(join(one.journal, 'old'));
    expect(readFileSync(join(one.journal, 'old', kept!), 'utf8')).toBe('a');
    expect(recover(one.journal)).toEqual({ outcome: 'rolled-back', left: ['a'] });
  });

  it('writes to an open file that the apply had taken out, and the write is not lost', () => {
    const one = bench(base, base, theirs);
    const open = openSync(join(one.project, 'a'), 'a');
    expect(crashes('apply', one, 'step:4')).toBe(true);
    expect(readFileSync(join(one.project, 'a'), 'utf8')).toBe('A');
    writeSync(open, ' and more');
    closeSync(open);
    expect(recover(one.journal)).toEqual({ outcome: 'rolled-back', left: [] });
    expect(harvest(one.project)).toEqual({ ...base, a: file('a and more') });
  });

  it.each(['put-back', 'taken-back'])('gets a rollback even after a crash during it (at %s)', (point) => {
    const one = bench(base, base, theirs);
    expect(crashes('apply', one, 'step:3')).toBe(true);
    writeFileSync(join(one.project, 'c'), 'mine');
    expect(crashes('recover', one, point)).toBe(true);
    expect(recover(one.journal).outcome).toBe('rolled-back');
    expect(harvest(one.project)).toEqual({ ...base, c: file('mine') });
    expect([isClean(one.project), existsSync(one.journal)]).toEqual([true, false]);
  });
});

describe('an undo', () => {
  it.each<[string, (project: string) => void]>([
    ['edited', (project) => writeFileSync(join(project, 'a'), 'mine')],
    ['deleted', (project) => rmSync(join(project, 'a'))],
    ['put back what was deleted', (project) => writeFileSync(join(project, 'gone'), 'again')],
  ])('refuses after the owner %s', (_, meanwhile) => {
    const one = bench(everyBase, everyBase, everyTheirs);
    apply(one);
    meanwhile(one.project);
    const now = harvest(one.project);
    expect(() => undoApply(one.journal)).toThrow(/changed since it was applied: (a|gone)$/);
    expect(harvest(one.project)).toEqual(now);
    expect(readJournal(one.journal).state).toBe('done');
  });

  it('accepts an equal file in the place of the one that the apply put', () => {
    const one = bench(everyBase, everyBase, everyTheirs);
    apply(one);
    const bytes = readFileSync(join(one.project, 'a'));
    rmSync(join(one.project, 'a'));
    writeFileSync(join(one.project, 'a'), bytes, { mode: 0o644 });
    undoApply(one.journal);
    expect(harvest(one.project)).toEqual(harvest(join(one.root, 'base')));
  });

  it('keeps a folder that the owner has put something into', () => {
    const one = bench({}, {}, { d: folder(), 'd/x': file('x') });
    apply(one);
    writeFileSync(join(one.project, 'd/mine'), 'm', { mode: 0o644 });
    undoApply(one.journal);
    expect(harvest(one.project)).toEqual({ d: folder(), 'd/mine': file('m') });
  });

  it('is refused the second time', () => {
    const one = bench(everyBase, everyBase, everyTheirs);
    apply(one);
    undoApply(one.journal);
    expect(() => undoApply(one.journal)).toThrow(/is undone/);
  });
});

describe('small disks', () => {
  function withDisk(size: string, work: (disk: string) => void): void {
    const disk = freshFolder();
    mount('carrel-test', disk, 'tmpfs', 0, `size=${size},mode=755`);
    try {
      work(disk);
    } finally {
      detachMount(disk);
    }
  }
  const large = file('x'.repeat(600_000));

  it('in the project: the apply fails and changes nothing', () =>
    withDisk('1m', (disk) => {
      const project = join(disk, 'project');
      const one = bench({ a: file('a') }, { a: file('a') }, { a: file('A'), b: large, c: large }, project);
      let code: unknown;
      try {
        apply(one);
      } catch (error) {
        code = asFault(error).code;
      }
      expect(code).toBe('exhausted');
      expect([harvest(project), existsSync(one.journal)]).toEqual([{ a: file('a') }, false]);
    }));

  it('for the journal: the apply fails and changes nothing', () =>
    withDisk('256k', (disk) => {
      const one = bench({ a: large }, { a: large, o: file('o') }, { b: file('b') });
      const journal = join(disk, 'journal');
      expect(() => commitApply(planOf(one), one.project, journal, {})).toThrow(/ENOSPC/);
      expect([harvest(one.project), existsSync(journal)]).toEqual([{ a: large, o: file('o') }, false]);
    }));

  it('of the project alone: the files that are kept for an undo are copied to the other disk', () =>
    withDisk('4m', (disk) => {
      const project = join(disk, 'project');
      mkdirSync(project);
      const one = bench(everyBase, everyBase, everyTheirs, project);
      apply(one);
      expect(harvest(project)).toEqual(everyTaken);
      undoApply(one.journal);
      expect(harvest(project)).toEqual(separate(harvest(join(one.root, 'base'))));
    }));
});
