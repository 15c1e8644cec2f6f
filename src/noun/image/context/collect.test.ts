import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Anchor, within } from '../../../lib/file/anchor.ts';
import { isFault } from '../../../model/fault.ts';
import { collect } from './collect.ts';
import type { ContextLimits } from './context.ts';
import { parseIgnore } from './ignore.ts';
import { checksumOf, pack } from './pack.ts';
import { readSmall } from './small-file.ts';

let above: string;
let folder: string;
let root: Anchor;

beforeEach(() => {
  above = mkdtempSync(join(tmpdir(), 'carrel-context-'));
  folder = join(above, 'project');
  mkdirSync(folder);
  root = Anchor.open(folder);
  put('../secret', 'of the host');
});
afterEach(() => {
  root.close();
  rmSync(above, { recursive: true });
});

function put(path: string, content = path): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

const find = async (patterns: string[], rules = '', limits?: ContextLimits) =>
  collect(root, { file: 'D', files: [{ line: 7, patterns }], ignore: parseIgnore('I', rules) }, limits);
const paths = async (patterns: string[], rules?: string) => (await find(patterns, rules)).map(({ path }) => path);
const refusal = async (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => (isFault(error) ? error : null),
  );

describe('the context of a build', () => {
  it('holds what is copied and nothing else', async () => {
    for (const path of ['a', 'b', 'src/x.js', 'src/y.ts', 'src/deep/z.js', 'lib/x.js']) put(path);
    expect(await paths(['a'])).toEqual(['a']);
    expect(await paths(['/a', './b', 'x/../a'])).toEqual(['a', 'b']);
    expect(await paths(['src'])).toEqual(['src', 'src/deep', 'src/deep/z.js', 'src/x.js', 'src/y.ts']);
    expect(await paths(['src/'])).toEqual(await paths(['src']));
    expect(await paths(['*/x.js', 'src/?.ts'])).toEqual(['lib/x.js', 'src/x.js', 'src/y.ts']);
    expect(await paths(['.'])).toEqual([
      'a',
      'b',
      'lib',
      'lib/x.js',
      'src',
      'src/deep',
      'src/deep/z.js',
      'src/x.js',
      'src/y.ts',
    ]);
    expect(await paths(['../../..'])).toEqual(await paths(['.']));
  });

  it('leaves out what .dockerignore names', async () => {
    for (const path of ['a', '.env', 'src/.env', 'src/x', 'node_modules/y']) put(path);
    expect(await paths(['.'], '**/.env\nnode_modules')).toEqual(['a', 'src', 'src/x']);
    expect(await paths(['.'], '*\n!src/x')).toEqual(['src/x']);
    expect((await refusal(find(['.env'], '.env')))?.message).toMatch(/^D, line 7: the project has no \.env/);
  });

  it('is refused with the line that copies a missing file', async () => {
    for (const pattern of ['nothing', 'a/b', 'no*', '../secret']) {
      expect((await refusal(find([pattern])))?.message).toMatch(/^D, line 7: the project has no /);
    }
  });

  it('keeps modes and links, without set-id bits', async () => {
    put('a');
    chmodSync(join(folder, 'a'), 0o6755);
    symlinkSync('../../etc/shadow', join(folder, 'link'));
    expect(await find(['.'])).toMatchObject([
      { path: 'a', kind: 'file', mode: 0o755, sizeBytes: 1 },
      { path: 'link', kind: 'link', target: '../../etc/shadow', sizeBytes: 0 },
    ]);
  });
});

describe('a hostile project', () => {
  it('is not read through links', async () => {
    symlinkSync('../secret', join(folder, 'file'));
    symlinkSync('..', join(folder, 'folder'));
    for (const pattern of ['file', 'folder', 'folder/secret', 'f*', '*/secret']) {
      expect((await refusal(find([pattern])))?.message).toMatch(/^D, line 7: f(ile|older) is a link$/);
    }
    expect((await find(['.'])).map(({ kind }) => kind)).toEqual(['link', 'link']);
  });

  it('has only plain files read', async () => {
    const server = createServer().listen(join(folder, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    expect(await paths(['.'])).toEqual([]);
    expect((await refusal(find(['socket'])))?.code).toBe('invalid');
    server.close();
  });

  it('is limited in size and depth', async () => {
    for (const path of ['a', 'b', 'c']) put(path, '12345');
    expect((await refusal(find(['.'], '', { maxBytes: 14, maxEntries: 9 })))?.code).toBe('exhausted');
    expect((await refusal(find(['.'], '', { maxBytes: 99, maxEntries: 2 })))?.code).toBe('exhausted');
    expect(await find(['.'], '', { maxBytes: 15, maxEntries: 3 })).toHaveLength(3);
    put(`${'d/'.repeat(210)}e`);
    expect((await refusal(find(['.'])))?.message).toContain('too deep');
  });

  it('cannot replace a checked file by a link', async () => {
    put('src/x', 'good');
    const entries = await find(['.']);
    const checksum = await checksumOf(root, entries);
    renameSync(join(folder, 'src'), join(folder, 'gone'));
    symlinkSync('..', join(folder, 'src'));
    put('../x', 'evil');
    expect((await refusal(checksumOf(root, entries)))?.code).toBe('conflict');
    expect((await refusal(drain(pack(root, entries, [], checksum))))?.code).toBe('conflict');
  });

  it.each<[what: string, change: () => void]>([
    ['grows', () => put('a', '123456')],
    ['shrinks', () => put('a', '1')],
    ['has other content', () => put('a', '54321')],
    ['becomes a link', () => [rmSync(join(folder, 'a')), symlinkSync('../secret', join(folder, 'a'))]],
    ['becomes a folder', () => [rmSync(join(folder, 'a')), mkdirSync(join(folder, 'a'))]],
    ['goes away', () => rmSync(join(folder, 'a'))],
  ])('is not packed when a file %s in between', async (_what, change) => {
    put('a', '12345');
    const entries = await find(['a']);
    const checksum = await checksumOf(root, entries);
    await drain(pack(root, entries, [], checksum));
    change();
    expect((await refusal(drain(pack(root, entries, [], checksum))))?.code).toBe('conflict');
  });

  it('cannot make `readSmall` read anything but a plain file', () => {
    put('real', 'text');
    mkdirSync(join(folder, 'folder'));
    symlinkSync('real', join(folder, 'link'));
    symlinkSync('.', join(folder, 'here'));
    expect(readSmall(root, 'real', 4)?.toString()).toBe('text');
    expect(readSmall(root, 'nothing', 4)).toBeNull();
    for (const path of ['link', 'here/real', 'folder', 'real/x'])
      expect(() => readSmall(root, path, 9)).toThrow('plain file');
    expect(() => readSmall(root, 'real', 3)).toThrow('larger than');
  });

  it('is bounded by what is read, not by the size that a file reports', () => {
    // Files of the kernel report a size of 0, like a file that grows after it was checked.
    within(Anchor.open('/proc/self'), (kernel) => {
      expect(() => readSmall(kernel, 'mountinfo', 9)).toThrow('larger than');
    });
  });
});

describe('the checksum', () => {
  const sum = async () => checksumOf(root, await find(['.']));

  it('is the same as long as all inputs are', async () => {
    put('a', 'x');
    symlinkSync('a', join(folder, 'l'));
    const before = await sum();
    put('a', 'x');
    expect(await sum()).toBe(before);
  });

  it.each<[what: string, change: () => void]>([
    ['content', () => put('a', 'y')],
    ['a name', () => renameSync(join(folder, 'a'), join(folder, 'b'))],
    ['a mode', () => chmodSync(join(folder, 'a'), 0o755)],
    ['a new file', () => put('b', '')],
    ['a new folder', () => mkdirSync(join(folder, 'd'))],
    ['where a link leads', () => [rmSync(join(folder, 'l')), symlinkSync('b', join(folder, 'l'))]],
  ])('changes with %s', async (_what, change) => {
    put('a', 'x');
    symlinkSync('a', join(folder, 'l'));
    const before = await sum();
    change();
    expect(await sum()).not.toBe(before);
  });
});

async function drain(chunks: AsyncIterable<Buffer>): Promise<void> {
  for await (const _chunk of chunks);
}
