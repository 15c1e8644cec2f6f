/**
 * An agent that can write to the project itself replaces entries that an apply has just made by links out of the
 * project, at the worst moments. Nothing outside changes, and nothing from outside comes in.
 */
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { isFault } from '../../src/model/fault.ts';
import { commitApply } from '../../src/noun/workspace/apply/commit/commit.ts';
import { readJournal } from '../../src/noun/workspace/apply/journal.ts';
import { undoApply } from '../../src/noun/workspace/apply/undo.ts';
import { bench, freshFolder, planOf } from '../fixtures/apply-bench.ts';
import { file, folder, harvest, link } from '../fixtures/tree.ts';
import { isRealRoot } from '../harness/machine.ts';

type Act = (path: string) => void;
/** Called right after, or instead of, the call of that name. */
const after = vi.hoisted(() => ({
  mkdir: (() => {}) as Act,
  symlink: (() => {}) as Act,
  isFar: (_: string): boolean => false,
}));

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>();
  const far = (call: typeof real.renameSync) => (from: string, to: string) => {
    if (after.isFar(to)) throw Object.assign(new Error('far'), { code: 'EXDEV' });
    call(from, to);
  };
  return {
    ...real,
    mkdirSync: (path: string, options: object) => {
      const made = real.mkdirSync(path, options);
      after.mkdir(`${path}`);
      return made;
    },
    symlinkSync: (target: Buffer, path: string) => {
      real.symlinkSync(target, path);
      after.symlink(`${path}`);
    },
    renameSync: far(real.renameSync),
    linkSync: far(real.linkSync),
  };
});

let outside: string;
beforeEach(() => {
  Object.assign(after, { mkdir: () => {}, symlink: () => {}, isFar: () => false });
  outside = freshFolder();
  chmodSync(outside, 0o751);
  writeFileSync(join(outside, 'secret'), 'secret', { mode: 0o600 });
  mkdirSync(join(outside, 'folder'), 0o750);
});

function expectUntouched(): void {
  expect(['', 'secret', 'folder'].map((name) => statSync(join(outside, name)).mode & 0o777)).toEqual([
    0o751, 0o600, 0o750,
  ]);
  expect(['', 'secret', 'folder'].map((name) => statSync(join(outside, name)).uid)).toEqual(
    Array(3).fill(process.getuid!()),
  );
}

/** Replaces one path by a link to the target, once. */
function swapOnce(isIt: (path: string) => boolean, target: string): Act {
  let done = false;
  return (path) => {
    if (done || !isIt(path)) return;
    done = true;
    renameSync(path, `${path}-away`);
    symlinkSync(target, path);
  };
}

function codeOf(work: () => unknown): string | null {
  try {
    work();
  } catch (error) {
    if (isFault(error)) return error.code;
    throw error;
  }
  return null;
}

it.each(['secret', 'folder'])('an apply leaves a %s untouched if a link to it replaces the staging folder', (name) => {
  const one = bench({}, {}, { f: file('f') });
  const plan = planOf(one);
  after.mkdir = swapOnce((path) => path.includes('.carrel-apply-'), join(outside, name));
  expect(codeOf(() => commitApply(plan, one.project, one.journal, {}))).not.toBeNull();
  expectUntouched();
  expect(readdirSync(join(outside, 'folder'))).toEqual([]);
});

it.each(['secret', 'folder'])('an apply leaves a %s untouched if a link to it replaces a new folder', (name) => {
  const one = bench({}, {}, { d: folder(0o777) });
  const plan = planOf(one);
  after.mkdir = swapOnce((path) => path.endsWith('/0'), join(outside, name));
  expect(codeOf(() => commitApply(plan, one.project, one.journal, {}))).toBe('conflict');
  expectUntouched();
});

it('an apply fails if a new link is replaced by a folder', () => {
  const one = bench({}, {}, { l: link('x') });
  const plan = planOf(one);
  after.symlink = (path) => {
    after.symlink = () => {};
    renameSync(path, `${path}-away`);
    mkdirSync(path);
  };
  expect(codeOf(() => commitApply(plan, one.project, one.journal, {}))).toBe('conflict');
});

it.each(['secret', 'folder'])('a rollback leaves a %s untouched if a link to it replaces a restored folder', (name) => {
  const one = bench({ d: folder(0o777), z: file('z') }, { d: folder(0o777), z: file('z') }, { z: file('Z') });
  const plan = planOf(one);
  writeFileSync(join(one.project, 'z'), 'mine');
  after.mkdir = swapOnce((path) => path.endsWith('/d'), join(outside, name));
  expect(codeOf(() => commitApply(plan, one.project, one.journal, {}))).toBe('conflict');
  expectUntouched();
});

it('a link to a secret in the place of a replaced file is not followed when that file is copied to be kept', () => {
  const one = bench({ f: file('123456') }, { f: file('123456') }, { f: file('new') });
  const plan = planOf(one);
  after.isFar = (to) => {
    if (!isInOld(one.journal, to)) return false;
    const staging = readdirSync(one.project).find((name) => name.startsWith('.carrel-apply-'))!;
    swapOnce(() => true, join(outside, 'secret'))(join(one.project, staging, '0'));
    return true;
  };
  expect(codeOf(() => commitApply(plan, one.project, one.journal, {}))).toBe('conflict');
  expectUntouched();
  expect(Object.values(harvest(one.root)).some((thing) => thing.type === 'file' && thing.bytes === 'secret')).toBe(
    false,
  );
});

function isInOld(journal: string, to: string): boolean {
  if (to === `${journal}/old`) return true;
  const folder = /^\/proc\/self\/fd\/\d+(?=\/)/.exec(to)?.[0];
  return to.startsWith(`${journal}/old/`) || (folder !== undefined && statSync(folder).ino === inoOf(`${journal}/old`));
}

function inoOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

it('a replaced file is kept and restored as a whole if it has to be copied', () => {
  const base = { f: file('old', 0o640), l: link('old') };
  const one = bench(base, base, { f: file('new'), l: link('new') });
  const before = ['f', 'l'].map((name) => lstatSync(join(one.project, name), { bigint: true }).mtimeNs);
  const plan = planOf(one);
  after.isFar = (to) => isInOld(one.journal, to) || /\/fd\/\d+\/\d+$/.test(to);
  commitApply(plan, one.project, one.journal, {});
  expect(harvest(join(one.journal, 'old'))).toEqual({ 0: base.f, 1: base.l });
  expect(readJournal(one.journal).state).toBe('done');
  undoApply(one.journal);
  expect(harvest(one.project)).toEqual(base);
  expect(['f', 'l'].map((name) => lstatSync(join(one.project, name), { bigint: true }).mtimeNs)).toEqual(before);
});

it.runIf(isRealRoot)('only the daemon can enter the staging folder, and entries from it belong to the owner', () => {
  const one = bench({ f: file('f') }, { f: file('f') }, { f: file('F'), d: folder(), 'd/g': file('g'), l: link('f') });
  for (const path of [one.project, join(one.project, 'f')]) chownSync(path, 12345, 12346);
  const plan = planOf(one);
  let seen: unknown = null;
  after.symlink = () => {
    const staging = readdirSync(one.project).find((name) => name.startsWith('.carrel-apply-'))!;
    const { uid, mode } = statSync(join(one.project, staging));
    seen = [uid, mode & 0o7777];
  };
  commitApply(plan, one.project, one.journal, {});
  expect(seen).toEqual([0, 0o700]);
  for (const path of ['f', 'd', 'd/g', 'l'])
    expect(lstatSync(join(one.project, path))).toMatchObject({ uid: 12345, gid: 12346 });
  expect(readFileSync(join(one.project, 'f'), 'utf8')).toBe('F');
});
