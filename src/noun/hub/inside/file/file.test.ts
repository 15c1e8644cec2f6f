import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { maxFileBytes, maxReadBytes, type WriteFile } from '../../model/spoke.ts';
import { hashOf } from './content.ts';
import { readFile, removeFile, renameFile, writeFile } from './file.ts';
import { listFiles } from './list.ts';

let base: string;
let root: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'carrel-spoke-'));
  root = join(base, 'project');
  mkdirSync(join(root, 'src'), { recursive: true });
  writeFileSync(join(root, 'src/a.ts'), 'one\ntwo\nthree\n');
  writeFileSync(join(base, 'outside'), 'secret');
});
afterEach(() => rmSync(base, { recursive: true }));

function write(path: string, rest: Partial<WriteFile>) {
  return writeFile(root, { path, isNew: false, dryRun: false, ...rest });
}
const text = (content: string) => ({ encoding: 'utf-8', content }) as const;
const inside = (path: string) => readFileSync(join(root, path), 'utf8');

describe('names that look like other names', () => {
  test.each([
    ['another case', 'SRC/A.TS'],
    ['backslashes', '..\\outside'],
    ['percent signs', '%2e%2e/outside'],
    ['dots of another script', '\u2024\u2024/outside'],
    ['full-width characters', '\uff0e\uff0e\uff0foutside'],
    ['an invisible character', '.\u200b./outside'],
    ['a trailing dot and space', 'src/a.ts. '],
  ])('%s: there is no such file', (_, path) => {
    expect(() => readFile(root, { path })).toThrow(expect.objectContaining({ code: 'not_found' }));
  });

  it('are different files if Unicode allows two spellings', () => {
    write('\u00e9', { content: text('composed') });
    write('e\u0301', { content: text('decomposed') });
    expect([inside('\u00e9'), inside('e\u0301')]).toEqual(['composed', 'decomposed']);
  });

  it('are refused if they are not Unicode', () => {
    expect(() => write('a\ud800', { content: text('') })).toThrow(/is not Unicode/);
    expect(() => write('a', { content: text('\udfff') })).toThrow(/content is not Unicode/);
    expect(() => write('a', { content: { encoding: 'base64', content: 'a$==' } })).toThrow(/content is not base64/);
    expect(existsSync(join(root, 'a'))).toBe(false);
  });

  it('are allowed up to 255 bytes, not characters', () => {
    write('\u00e9'.repeat(127), { content: text('x') });
    expect(() => write('\u00e9'.repeat(128), { content: text('x') })).toThrow(/more than 255 bytes/);
  });
});

it('a file that changes between reading and writing is not overwritten', () => {
  const { hash } = readFile(root, { path: 'src/a.ts' });
  writeFileSync(join(root, 'src/a.ts'), 'changed');
  expect(() => write('src/a.ts', { content: text('mine'), expectedHash: hash })).toThrow(/is not as it was/);
  expect(inside('src/a.ts')).toBe('changed');
});

describe('paths that leave the project are refused', () => {
  test.each([['../outside'], ['src/../../outside'], ['/etc/passwd'], ['a\0b'], ['x'.repeat(256)], ['x/'.repeat(2100)]])(
    '%j',
    (path) => {
      for (const act of acts(path)) expect(act).toThrow(expect.objectContaining({ code: 'invalid' }));
      expect(readFileSync(join(base, 'outside'), 'utf8')).toBe('secret');
    },
  );

  test.each([
    ['a relative link', () => symlinkSync('../outside', join(root, 'out'))],
    ['an absolute link', () => symlinkSync(join(base, 'outside'), join(root, 'out'))],
    ['an absolute link to a path in the project', () => symlinkSync(join(root, 'src/a.ts'), join(root, 'out'))],
    [
      'a link to a link',
      () => {
        symlinkSync('via', join(root, 'out'));
        symlinkSync('../outside', join(root, 'via'));
      },
    ],
  ])('%s', (_, plant) => {
    plant();
    expect(() => readFile(root, { path: 'out' })).toThrow(/link out of the project/);
    expect(() => write('out', { content: text('x') })).toThrow(/link out of the project/);
  });

  it('a folder that is a link out', () => {
    symlinkSync('..', join(root, 'up'));
    for (const act of acts('up/outside')) expect(act).toThrow(/link out of the project/);
    expect(() => listFiles(root, { path: 'up', depth: 1, limit: 10 })).toThrow(/link out of the project/);
  });

  it('links that lead in a circle', () => {
    symlinkSync('b', join(root, 'a'));
    symlinkSync('a', join(root, 'b'));
    expect(() => readFile(root, { path: 'a' })).toThrow(/too many links/);
  });

  function acts(path: string) {
    return [
      () => readFile(root, { path }),
      () => write(path, { content: text('x') }),
      () => removeFile(root, { path, recursive: true, dryRun: false }),
      () => renameFile(root, { from: path, to: 'moved', overwrite: false, dryRun: false }),
      () => renameFile(root, { from: 'src/a.ts', to: path, overwrite: true, dryRun: false }),
    ];
  }
});

describe('read', () => {
  it('answers with the text, its hash and the number of lines', () => {
    const content = 'one\ntwo\nthree\n';
    expect(readFile(root, { path: './src//a.ts' })).toEqual({
      path: 'src/a.ts',
      encoding: 'utf-8',
      content,
      sizeBytes: content.length,
      hash: hashOf(Buffer.from(content)),
      lines: 3,
      truncated: false,
    });
  });

  it('follows a link that stays in the project', () => {
    symlinkSync('src/a.ts', join(root, 'link'));
    symlinkSync('src', join(root, 'folder'));
    expect(readFile(root, { path: 'link' }).path).toBe('src/a.ts');
    expect(readFile(root, { path: 'folder/a.ts' }).path).toBe('src/a.ts');
  });

  it('answers with the requested lines', () => {
    expect(readFile(root, { path: 'src/a.ts', startLine: 2, endLine: 2 })).toMatchObject({
      content: 'two\n',
      lines: 3,
    });
    expect(readFile(root, { path: 'src/a.ts', startLine: 9 })).toMatchObject({ content: '' });
  });

  it('answers with base64 if the content is not text', () => {
    const bytes = Buffer.from([0xff, 0x00, 0x41]);
    writeFileSync(join(root, 'bin'), bytes);
    const expected = { encoding: 'base64', content: bytes.toString('base64'), lines: null };
    expect(readFile(root, { path: 'bin' })).toMatchObject(expected);
  });

  it('keeps a byte order mark, so that writing it back changes nothing', () => {
    writeFileSync(join(root, 'bom'), '\ufeffa');
    expect(readFile(root, { path: 'bom' }).content).toBe('\ufeffa');
  });

  it('cuts long text at a line and marks it as cut', () => {
    writeFileSync(join(root, 'long'), `${'x'.repeat(99)}\n`.repeat(20_000));
    const { content, truncated } = readFile(root, { path: 'long' });
    expect(truncated).toBe(true);
    expect(content.length).toBeLessThanOrEqual(maxReadBytes);
    expect(content.endsWith('x\n')).toBe(true);
  });

  it('refuses a folder, a file that is too large, and a path that does not exist', () => {
    writeFileSync(join(root, 'huge'), Buffer.alloc(maxFileBytes + 1));
    expect(() => readFile(root, { path: 'huge' })).toThrow(/larger than/);
    expect(() => readFile(root, { path: 'src' })).toThrow(/not a file/);
    expect(() => readFile(root, { path: '' })).toThrow(/not a file/);
    expect(() => readFile(root, { path: 'nope' })).toThrow(expect.objectContaining({ code: 'not_found' }));
    expect(() => readFile(root, { path: 'src/a.ts/x' })).toThrow(expect.objectContaining({ code: 'invalid' }));
  });
});

describe('write', () => {
  it('makes folders on the way and answers with the hash of what was written', () => {
    expect(write('new/deep/b.ts', { content: text('hi'), isNew: true })).toMatchObject({
      path: 'new/deep/b.ts',
      created: true,
      hash: hashOf(Buffer.from('hi')),
    });
    expect(inside('new/deep/b.ts')).toBe('hi');
    expect(statSync(join(root, 'new/deep/b.ts')).mode & 0o777).toBe(0o644);
  });

  it('refuses to create what exists, and changes nothing', () => {
    expect(() => write('src/a.ts', { content: text('x'), isNew: true })).toThrow(/exists already/);
    expect(inside('src/a.ts')).toBe('one\ntwo\nthree\n');
  });

  it('keeps the mode, does not change other hard links of the file, and leaves no temporary file', () => {
    chmodSync(join(root, 'src/a.ts'), 0o755);
    linkSync(join(root, 'src/a.ts'), join(base, 'other-name'));
    write('src/a.ts', { content: text('x') });
    expect(statSync(join(root, 'src/a.ts')).mode & 0o777).toBe(0o755);
    expect(readFileSync(join(base, 'other-name'), 'utf8')).toBe('one\ntwo\nthree\n');
    expect(listFiles(root, { path: 'src', depth: 1, limit: 10 }).items.map(({ path }) => path)).toEqual(['src/a.ts']);
  });

  it('refuses a stale hash', () => {
    const { hash } = readFile(root, { path: 'src/a.ts' });
    write('src/a.ts', { content: text('newer'), expectedHash: hash });
    expect(() => write('src/a.ts', { content: text('stale'), expectedHash: hash })).toThrow(/not as it was/);
    expect(inside('src/a.ts')).toBe('newer');
  });

  it('with dryRun returns the result and changes nothing', () => {
    expect(write('src/a.ts', { content: text('x'), dryRun: true })).toMatchObject({ created: false, dryRun: true });
    expect(inside('src/a.ts')).toBe('one\ntwo\nthree\n');
  });

  it.each([
    ['one text', [{ oldText: 'two', newText: '2' }], 'one\n2\nthree\n'],
    ['lines', [{ startLine: 2, endLine: 3, newText: 'rest\n' }], 'one\nrest\n'],
    ['an empty range', [{ startLine: 2, endLine: 1, newText: 'between\n' }], 'one\nbetween\ntwo\nthree\n'],
    [
      'several, lines counted before any edit',
      [
        { startLine: 1, endLine: 1, newText: 'a\nb\n' },
        { startLine: 3, endLine: 3, newText: 'c\n' },
        { oldText: 'two', newText: '2' },
      ],
      'a\nb\n2\nc\n',
    ],
  ])('edits %s', (_, edits, expected) => {
    write('src/a.ts', { edits });
    expect(inside('src/a.ts')).toBe(expected);
  });

  it.each([
    ['a text that the file does not contain', [{ oldText: 'four', newText: '' }]],
    ['a text that occurs twice', [{ oldText: 'o', newText: '' }]],
    ['lines after the end of the file', [{ startLine: 4, endLine: 5, newText: '' }]],
    [
      'lines that overlap',
      [
        { startLine: 1, endLine: 2, newText: '' },
        { startLine: 2, endLine: 3, newText: '' },
      ],
    ],
  ])('refuses to edit %s, and changes nothing', (_, edits) => {
    expect(() => write('src/a.ts', { edits })).toThrow(expect.objectContaining({ code: 'conflict' }));
    expect(inside('src/a.ts')).toBe('one\ntwo\nthree\n');
  });
});

describe('remove and rename', () => {
  it('removes a link, not what it points to', () => {
    symlinkSync('../outside', join(root, 'out'));
    expect(removeFile(root, { path: 'out', recursive: false, dryRun: false }).paths).toEqual(['out']);
    expect(existsSync(join(base, 'outside'))).toBe(true);
  });

  it('removes a folder with files only if recursive', () => {
    expect(() => removeFile(root, { path: 'src', recursive: false, dryRun: false })).toThrow(/with files in it/);
    removeFile(root, { path: 'src', recursive: true, dryRun: false });
    expect(existsSync(join(root, 'src'))).toBe(false);
  });

  it('refuses the project itself', () => {
    expect(() => removeFile(root, { path: '.', recursive: true, dryRun: false })).toThrow(/project itself/);
  });

  it('renames, and overwrites only with the option', () => {
    writeFileSync(join(root, 'b'), 'b');
    const move = (overwrite: boolean) => renameFile(root, { from: 'b', to: 'src/a.ts', overwrite, dryRun: false });
    expect(() => move(false)).toThrow(/exists already/);
    expect(move(true).paths).toEqual(['b', 'src/a.ts']);
    expect(inside('src/a.ts')).toBe('b');
  });
});

describe('list', () => {
  it('reads no folder that earlier pages have listed', () => {
    for (const name of ['a', 'b', 'c']) mkdirSync(join(root, name));
    for (const path of ['a/1', 'b/2', 'c/3']) writeFileSync(join(root, path), '');
    // A folder that was removed since then is not read again.
    rmSync(join(root, 'a'), { recursive: true });
    const page = listFiles(root, { path: '', depth: 9, limit: 2, after: 'b/2' });
    expect(page).toMatchObject({ items: [{ path: 'c' }, { path: 'c/3' }], more: true });
    const refused = () => listFiles(root, { path: 'b', depth: 1, limit: 1, after: 'c/3' });
    expect(refused).toThrow(expect.objectContaining({ code: 'invalid' }));
  });

  it('continues after an entry that was removed meanwhile', () => {
    for (const name of ['a', 'b', 'c']) writeFileSync(join(root, name), '');
    rmSync(join(root, 'b'));
    expect(listFiles(root, { path: '', depth: 1, limit: 9, after: 'b' }).items.map(({ path }) => path)).toEqual([
      'c',
      'src',
    ]);
  });

  it('lists a page at a time, every entry once and in order', () => {
    for (const name of ['src-b', 'src/z', 'src0', 'a b']) writeFileSync(join(root, name), '');
    mkdirSync(join(root, '.git'));
    writeFileSync(join(root, '.git/config'), '');
    const all = listFiles(root, { path: '', depth: 9, limit: 100 }).items.map(({ path }) => path);
    expect(all).toEqual(['.git', 'a b', 'src', 'src/a.ts', 'src/z', 'src-b', 'src0']);
    const paged: string[] = [];
    for (let after: string | undefined; ; ) {
      const { items, more } = listFiles(root, { path: '', depth: 9, limit: 2, after });
      paged.push(...items.map(({ path }) => path));
      after = items.at(-1)?.path;
      if (!more) break;
    }
    expect(paged).toEqual(all);
  });
});
