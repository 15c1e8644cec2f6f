import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import type { FileChange, RangeEdit } from '../../model/edit.ts';
import { hashOf } from '../file/content.ts';
import { abortEdit } from './abort.ts';
import { applyEdit } from './apply.ts';
import { finishEdit, prepareEdit } from './edit.ts';

const id = '0123456789abcdef';
let base: string;
let root: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'carrel-edit-'));
  root = join(base, 'project');
  mkdirSync(join(root, 'src/deep'), { recursive: true });
  writeFileSync(join(root, 'src/a.ts'), 'one\ntwo\nthree\n');
  writeFileSync(join(root, 'src/run.sh'), '#!/bin/sh\n');
  chmodSync(join(root, 'src/run.sh'), 0o751);
  writeFileSync(join(root, 'src/deep/b.bin'), Buffer.of(0, 255, 10));
  symlinkSync('a.ts', join(root, 'src/link'));
  writeFileSync(join(base, 'outside'), 'secret');
});
afterEach(() => rmSync(base, { recursive: true }));

/** Every path with its mode and content. */
function tree(folder = root): Record<string, string> {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const mode = (entry.isSymbolicLink() ? 0 : statSync(path).mode & 0o777).toString(8);
      const content = entry.isFile() ? readFileSync(path).toString('latin1') : '';
      return [path.slice(root.length + 1), `${mode} ${entry.isSymbolicLink() ? readlinkSync(path) : content}`];
    }),
  );
}

const text = (content: string) => ({ encoding: 'utf-8', content }) as const;
const edit = (path: string, oldText: string, newText: string, expectedHash?: string): FileChange => ({
  ...{ kind: 'edit', path, expectedHash },
  edits: [{ oldText, newText }],
});
const range = (at: readonly [number, number, number, number], newText: string): RangeEdit => {
  const [startLine, startColumn, endLine, endColumn] = at;
  return { startLine, startColumn, endLine, endColumn, newText };
};
const ranges = (path: string, ...edits: RangeEdit[]): FileChange => ({ kind: 'edit', path, edits });
const create = (path: string, content: string, overwrite = false): FileChange => ({
  ...{ kind: 'create', path, overwrite },
  content: text(content),
});
const rename = (path: string, to: string, overwrite = false): FileChange => ({ kind: 'rename', path, to, overwrite });
const remove = (path: string, recursive = false): FileChange => ({ kind: 'delete', path, recursive });
const prepare = (...changes: FileChange[]) => prepareEdit(root, { id, changes, dryRun: false });
const preview = (...changes: FileChange[]) => prepareEdit(root, { id, changes, dryRun: true });
function apply(...changes: FileChange[]): void {
  prepare(...changes);
  applyEdit(root, { id });
  finishEdit(root, { id });
}

const everything: FileChange[] = [
  edit('src/a.ts', 'two', 'zwei'),
  create('new/folder/c.ts', 'c\n'),
  rename('src/deep', 'moved/deep'),
  edit('src/run.sh', 'sh', 'bash'),
  rename('src/run.sh', 'src/go.sh'),
  edit('src/go.sh', 'bash', 'zsh'),
  remove('src/link'),
  create('src/link', 'no link\n'),
];

it('an edit applies every kind of change in their order and leaves no journal', () => {
  apply(...everything);
  expect(tree()).toEqual({
    src: '755 ',
    'src/a.ts': '644 one\nzwei\nthree\n',
    'src/go.sh': '751 #!/bin/zsh\n',
    'src/link': '644 no link\n',
    new: '755 ',
    'new/folder': '755 ',
    'new/folder/c.ts': '644 c\n',
    moved: '755 ',
    'moved/deep': '755 ',
    'moved/deep/b.bin': '644 \0ÿ\n',
  });
});

it('a preview shows a diff and the files, and changes nothing', () => {
  const before = tree();
  const { files, diff } = preview(...everything);
  expect(tree()).toEqual(before);
  expect(files).toContainEqual({
    ...{ path: 'src/a.ts', outcome: 'changed', to: null },
    hash: hashOf(Buffer.from('one\nzwei\nthree\n')),
  });
  expect(files.map(({ path, outcome }) => `${outcome} ${path}`)).toEqual([
    'changed src/a.ts',
    'created new/folder/c.ts',
    'renamed src/deep/b.bin',
    'changed src/run.sh',
    'renamed src/run.sh',
    'deleted src/link',
    'created src/link',
  ]);
  expect(diff).toContain('--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n');
  expect(diff).toContain('rename from src/run.sh\nrename to src/go.sh\n');
});

it('an abort after all steps restores contents and modes, and can be repeated', () => {
  const before = tree();
  prepare(...everything);
  applyEdit(root, { id });
  expect(tree()).not.toEqual(before);
  expect(abortEdit(root, { id })).toEqual({ left: [] });
  expect(tree()).toEqual(before);
  expect(abortEdit(root, { id })).toEqual({ left: [] });
  expect(tree()).toEqual(before);
});

describe('apply fails after a change of another process, and the abort keeps that change:', () => {
  test.each([
    ['of a file that is written', () => writeFileSync(join(root, 'src/a.ts'), 'theirs\n')],
    ['of a file that is removed', () => writeFileSync(join(root, 'src/run.sh'), 'theirs\n')],
    ['a new file where one is created', () => writeFileSync(join(root, 'src/new.ts'), 'theirs\n')],
    ['a new file where one is moved to', () => writeFileSync(join(root, 'src/to.bin'), 'theirs\n')],
    ['a new file in a folder that is removed', () => writeFileSync(join(root, 'src/deep/theirs'), 'theirs\n')],
  ])('%s', (_, interfere) => {
    prepare(
      edit('src/a.ts', 'two', 'zwei'),
      remove('src/run.sh'),
      create('src/new.ts', 'new\n'),
      rename('src/deep/b.bin', 'src/to.bin'),
      remove('src/deep'),
    );
    interfere();
    const journal = `.carrel-edit-${id}`;
    const before = Object.entries(tree()).filter(([path]) => !path.startsWith(journal));
    expect(() => applyEdit(root, { id })).toThrow(expect.objectContaining({ code: 'conflict' }));
    expect(abortEdit(root, { id })).toEqual({ left: [] });
    expect(Object.entries(tree())).toEqual(before);
  });
});

it('an abort leaves what another process changed after the edit, and keeps the old content', () => {
  prepare(edit('src/a.ts', 'two', 'zwei'), create('src/new.ts', 'new\n'));
  applyEdit(root, { id });
  writeFileSync(join(root, 'src/a.ts'), 'theirs\n');
  writeFileSync(join(root, 'src/new.ts'), 'theirs\n');
  expect(abortEdit(root, { id })).toEqual({ left: ['src/new.ts', 'src/a.ts'] });
  expect(readFileSync(join(root, 'src/a.ts'), 'utf8')).toBe('theirs\n');
  const kept = join(root, `.carrel-edit-${id}-abort`);
  expect(readdirSync(kept)).toEqual(['0.old']);
  expect(readFileSync(join(kept, '0.old'), 'utf8')).toBe('one\ntwo\nthree\n');
});

it('a program that still applies an edit stops when the edit is aborted', () => {
  const before = tree();
  prepare(...everything);
  abortEdit(root, { id });
  expect(() => applyEdit(root, { id })).toThrow(/not prepared/);
  expect(tree()).toEqual(before);
});

describe('an edit is refused and changes nothing:', () => {
  const stale = hashOf(Buffer.from('other'));
  test.each<[string, FileChange, string]>([
    ['a stale hash', edit('src/a.ts', 'two', 'zwei', stale), 'conflict'],
    ['a stale hash of what is deleted', { ...remove('src/a.ts'), expectedHash: stale } as FileChange, 'conflict'],
    ['text that is not there', edit('src/a.ts', 'four', 'vier'), 'conflict'],
    ['a binary file', edit('src/deep/b.bin', 'a', 'b'), 'invalid'],
    ['a missing file', edit('src/none', 'a', 'b'), 'not_found'],
    ['a path out of the project', create('../outside', 'x'), 'invalid'],
    ['a new path out of the project', rename('src/a.ts', '../outside', true), 'invalid'],
    ['an absolute path', create('/etc/passwd', 'x'), 'invalid'],
    ['the project itself', remove('.', true), 'invalid'],
    ['a file that exists', create('src/a.ts', 'x'), 'conflict'],
    ['a target that exists', rename('src/a.ts', 'src/run.sh'), 'conflict'],
    ['a target that is a folder', rename('src/a.ts', 'src/deep', true), 'conflict'],
    ['a folder with files', remove('src'), 'conflict'],
    ['a folder into itself', rename('src', 'src/deep/src'), 'invalid'],
    ['a path below a file', create('src/a.ts/b', 'x'), 'invalid'],
    ['edits that overlap', ranges('src/a.ts', range([1, 1, 2, 1], ''), range([1, 2, 1, 3], '')), 'conflict'],
    ['a position after the end', ranges('src/a.ts', range([9, 1, 9, 1], '')), 'conflict'],
    ['a column after the line', ranges('src/a.ts', range([1, 6, 1, 6], '')), 'conflict'],
    ['an end before its start', ranges('src/a.ts', range([2, 1, 1, 1], '')), 'conflict'],
  ])('%s', (_, change, code) => {
    const before = tree();
    expect(() => prepare(create('first.ts', 'x'), change)).toThrow(expect.objectContaining({ code }));
    expect(tree()).toEqual(before);
    expect(readFileSync(join(base, 'outside'), 'utf8')).toBe('secret');
  });

  it('a link out of the project, in any place', () => {
    symlinkSync('..', join(root, 'up'));
    symlinkSync('../outside', join(root, 'out'));
    for (const change of [
      create('up/x', 'x'),
      edit('out', 'secret', 'x'),
      rename('src/a.ts', 'up/x'),
      remove('up/outside'),
    ])
      expect(() => prepare(change)).toThrow(/link out of the project/);
    expect(readdirSync(base)).toEqual(['outside', 'project']);
  });

  it('a link that replaces a folder between prepare and apply', () => {
    prepare(create('src/deep/x', 'x'));
    rmSync(join(root, 'src/deep'), { recursive: true });
    symlinkSync('../..', join(root, 'src/deep'));
    expect(() => applyEdit(root, { id })).toThrow(/link out of the project/);
    abortEdit(root, { id });
    expect(existsSync(join(base, 'x'))).toBe(false);
  });
});

describe('edits between positions', () => {
  const changedTo = (content: string, ...edits: RangeEdit[]) => {
    writeFileSync(join(root, 'x'), content);
    apply(ranges('x', ...edits));
    return readFileSync(join(root, 'x'), 'utf8');
  };
  it('refer to the text before all edits, in any order', () => {
    expect(
      changedTo('one\ntwo\n', range([2, 1, 2, 4], 'zwei'), range([1, 1, 1, 1], 'a'), range([1, 1, 1, 1], 'b')),
    ).toBe('abone\nzwei\n');
  });
  it('count CR LF as one end of a line, and columns in UTF-16 units', () => {
    expect(changedTo('a\r\n😀b\r\n', range([2, 3, 2, 4], 'c'))).toBe('a\r\n😀c\r\n');
    expect(() => changedTo('😀', range([1, 2, 1, 2], 'c'))).toThrow(/no character that starts at 1:2/);
  });
});
