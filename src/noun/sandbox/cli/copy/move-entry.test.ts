import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Anchor, within } from '../../../../lib/file/anchor.ts';
import { Fault } from '../../../../model/fault.ts';
import { discard, moveContentsInto, moveEntryInto, sanitizeTree } from './move-entry.ts';
import { openHostFolder } from './open-host-folder.ts';
import { openStage } from './stage.ts';

let root: string;
let from: string;
let to: string;
let outside: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'carrel-move-')));
  [from, to, outside] = ['from', 'to', 'outside'].map((name) => join(root, name)) as [string, string, string];
  for (const folder of [from, to, outside]) mkdirSync(folder);
  writeFileSync(join(outside, 'secret'), 'untouched');
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function between(work: (source: Anchor, target: Anchor) => void): void {
  within(Anchor.open(from), (source) => within(Anchor.open(to), (target) => work(source, target)));
}

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
  return 'none';
}

test('a file replaces a link, never the target of the link', () => {
  writeFileSync(join(from, 'a'), 'new');
  symlinkSync(join(outside, 'secret'), join(to, 'a'));
  between((source, target) => moveEntryInto(source, 'a', target, 'a'));
  expect(lstatSync(join(to, 'a')).isFile()).toBe(true);
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('untouched');
});

test('a folder is not merged through a link, and nothing is moved', () => {
  mkdirSync(join(from, 'd/sub'), { recursive: true });
  writeFileSync(join(from, 'd/sub/secret'), 'new');
  writeFileSync(join(from, 'd/a'), 'new');
  mkdirSync(join(to, 'd'));
  symlinkSync(outside, join(to, 'd/sub'));
  between((source, target) => expect(codeOf(() => moveEntryInto(source, 'd', target, 'd'))).toBe('conflict'));
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('untouched');
  expect(existsSync(join(to, 'd/a'))).toBe(false);
});

test('folders are merged, files of the same name are replaced, other files stay', () => {
  mkdirSync(join(from, 'd/sub'), { recursive: true });
  writeFileSync(join(from, 'd/sub/a'), 'new');
  mkdirSync(join(to, 'd/sub'), { recursive: true });
  writeFileSync(join(to, 'd/sub/a'), 'old');
  writeFileSync(join(to, 'd/sub/b'), 'kept');
  between((source, target) => moveEntryInto(source, 'd', target, 'd'));
  expect(readFileSync(join(to, 'd/sub/a'), 'utf8')).toBe('new');
  expect(readFileSync(join(to, 'd/sub/b'), 'utf8')).toBe('kept');
});

test('entries whose names are not UTF-8 are moved too', () => {
  const name = Buffer.from([0x61, 0xff, 0x62]);
  writeFileSync(Buffer.concat([Buffer.from(`${from}/`), name]), 'x');
  between((source, target) => {
    moveContentsInto(source, target);
    expect(target.names()).toEqual([name]);
  });
});

describe('sanitizeTree', () => {
  test('clears special bits and gives the owner access to folders', () => {
    mkdirSync(join(from, 'd'));
    writeFileSync(join(from, 'd/a'), 'x');
    chmodSync(join(from, 'd/a'), 0o6755);
    chmodSync(join(from, 'd'), 0o2050);
    within(Anchor.open(from), sanitizeTree);
    expect(statSync(join(from, 'd')).mode & 0o7777).toBe(0o750);
    expect(statSync(join(from, 'd/a')).mode & 0o7777).toBe(0o755);
  });

  test('does not change the target of a link', () => {
    chmodSync(join(outside, 'secret'), 0o4755);
    symlinkSync(join(outside, 'secret'), join(from, 'l'));
    within(Anchor.open(from), sanitizeTree);
    expect(statSync(join(outside, 'secret')).mode & 0o7777).toBe(0o4755);
  });

  test('refuses what is neither file, folder nor link', async () => {
    const server = createServer();
    await new Promise<void>((done) => server.listen(join(from, 's'), done));
    expect(codeOf(() => within(Anchor.open(from), sanitizeTree))).toBe('denied');
    await new Promise((done) => server.close(done));
  });
});

test('discard removes folders without permissions too, and follows no links', () => {
  mkdirSync(join(from, 'closed/inner'), { recursive: true });
  symlinkSync(outside, join(from, 'closed/l'));
  chmodSync(join(from, 'closed'), 0);
  discard(from);
  expect(existsSync(from)).toBe(false);
  expect(existsSync(join(outside, 'secret'))).toBe(true);
});

test('a stage is private and leaves nothing behind', () => {
  const home = join(root, 'home');
  mkdirSync(home);
  within(Anchor.open(to), (target) => {
    const stage = openStage(home, target);
    expect(statSync(stage.folder.path).mode & 0o777).toBe(0o700);
    expect(target.names()).toEqual([]);
    stage.dispose();
  });
  within(Anchor.open(home), (folder) => expect(folder.names()).toEqual([]));
});

describe('openHostFolder', () => {
  test('follows links where no sandbox can write', () => {
    symlinkSync('../outside', join(to, 'l'));
    within(openHostFolder(join(to, 'l'), [from]), (folder) => expect(folder.look('secret')).not.toBeNull());
  });

  test('does not follow links where a sandbox can write', () => {
    symlinkSync(outside, join(from, 'l'));
    mkdirSync(join(from, 'd'));
    expect(codeOf(() => openHostFolder(join(from, 'l'), [from]))).toBe('denied');
    expect(codeOf(() => openHostFolder(join(from, 'l/deeper'), [from]))).toBe('denied');
    within(openHostFolder(join(from, 'd'), [from]), (folder) => expect(folder.names()).toEqual([]));
  });

  test('refuses a missing path, a file and a loop of links with different codes', () => {
    symlinkSync('loop', join(to, 'loop'));
    expect(codeOf(() => openHostFolder(join(to, 'absent'), []))).toBe('not_found');
    expect(codeOf(() => openHostFolder(join(outside, 'secret'), []))).toBe('invalid');
    expect(codeOf(() => openHostFolder(join(to, 'loop'), []))).toBe('denied');
  });
});
