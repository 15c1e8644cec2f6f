// @takes 30 s
/**
 * The program that applies an edit, or rolls it back, is killed between every two steps: the files are then restored.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { abortEdit } from '../../src/noun/hub/inside/edit/abort.ts';
import { applyEdit } from '../../src/noun/hub/inside/edit/apply.ts';
import { prepareEdit } from '../../src/noun/hub/inside/edit/edit.ts';
import type { FileChange } from '../../src/noun/hub/model/edit.ts';
import { file, folder, harvest, link, plant } from '../fixtures/tree.ts';

const once = join(import.meta.dirname, '../fixtures/edit-once.mjs');
const id = '0123456789abcdef';
let base: string;
let root: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'carrel-edit-'));
  root = join(base, 'project');
  writeFileSync(join(base, 'changes'), JSON.stringify(changes));
  plant(root, before);
});
afterEach(() => rmSync(base, { recursive: true }));

const before = {
  a: file('one\ntwo\n', 0o640),
  b: file('b\n', 0o755),
  c: file('c\n'),
  'deep/x': file('\0\xff'),
  'deep/link': link('../a'),
  'deep/empty': folder(0o700),
};
const text = (content: string) => ({ encoding: 'utf-8', content }) as const;
/** A path that takes the place of one that was moved or removed before is the hardest to roll back. */
const changes: FileChange[] = [
  { kind: 'edit', path: 'a', edits: [{ oldText: 'two', newText: 'zwei' }] },
  { kind: 'rename', path: 'b', to: 'c', overwrite: true },
  { kind: 'rename', path: 'a', to: 'b', overwrite: false },
  { kind: 'create', path: 'a', content: text('new'), overwrite: false },
  { kind: 'rename', path: 'deep', to: 'moved/deep', overwrite: false },
  { kind: 'create', path: 'deep/x', content: text('another'), overwrite: false },
  { kind: 'delete', path: 'moved', recursive: true },
  { kind: 'rename', path: 'deep', to: 'moved', overwrite: false },
];

/** Runs the action in a process that is killed at the point; false: the process never got there. */
function crashes(action: 'apply' | 'abort', point: string): boolean {
  const { signal, status, stderr } = spawnSync('node', [once, action, root, join(base, 'changes')], {
    env: { ...process.env, CARREL_CRASH_AT: point },
  });
  if (signal === null && status !== 0) throw new Error(stderr.toString());
  return signal === 'SIGKILL';
}

const stepCount = 22;
const steps = Array.from({ length: stepCount }, (_, n) => `edit:step:${n}`);

it.each(['edit:folder', 'edit:staged', 'edit:journaled', 'edit:kept', 'edit:moving', 'edit:made', ...steps])(
  'a crash at %s is rolled back, modes included',
  (point) => {
    const expected = harvest(root);
    expect(crashes('apply', point)).toBe(true);
    expect(abortEdit(root, { id })).toEqual({ left: [] });
    expect(harvest(root)).toEqual(expected);
  },
);

it.each(['abort:reversed', ...Array.from({ length: stepCount }, (_, n) => `abort:step:${n}`)])(
  'an abort that is killed at %s is completed by the next one',
  (point) => {
    const expected = harvest(root);
    prepareEdit(root, { id, changes, dryRun: false });
    applyEdit(root, { id });
    expect(crashes('abort', point)).toBe(true);
    expect(abortEdit(root, { id })).toEqual({ left: [] });
    expect(harvest(root)).toEqual(expected);
  },
);

it('the edit has no more steps than are tested', () => {
  expect(crashes('apply', `edit:step:${stepCount}`)).toBe(false);
});
