import { lstatSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Anchor, within } from '../file/anchor.ts';
import { type Stat, statIn, statOf } from './stat.ts';

const folder = mkdtempSync(join(tmpdir(), 'carrel-stat-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('statIn', () => {
  writeFileSync(join(folder, 'file'), 'content', { mode: 0o640 });
  symlinkSync('nowhere', join(folder, 'link'));
  const fields = 'dev ino mode rdev size uid gid mtimeMs mtimeNs ctimeNs birthtimeNs'.split(' ') as (keyof Stat)[];
  const tests = 'isFile isDirectory isSymbolicLink isFIFO isSocket isCharacterDevice'.split(' ') as 'isFile'[];

  it.each([join(folder, 'file'), join(folder, 'link'), folder, '/dev/null', '/dev/tty'])(
    'gives the same as lstat for %s',
    (path) => {
      const seen = within(Anchor.open(dirname(path)), ({ fd }) =>
        statIn({ folderFd: fd, name: Buffer.from(basename(path)) }),
      )!;
      const expected = lstatSync(path, { bigint: true });
      expect(fields.map((field) => seen[field])).toEqual(fields.map((field) => expected[field]));
      expect(tests.map((test) => seen[test]())).toEqual(tests.map((test) => expected[test]()));
    },
  );

  it('gives the same as lstat for an open entry', () => {
    const seen = within(Anchor.open(folder), ({ fd }) => statOf(fd));
    const expected = lstatSync(folder, { bigint: true });
    expect(fields.map((field) => seen[field])).toEqual(fields.map((field) => expected[field]));
    expect(BigInt(seen.blocks)).toBe(expected.blocks);
  });

  it('takes a name as a string of its bytes', () => {
    const name = Buffer.from([0x66, 0xff]);
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), name]), '');
    const [one, other] = within(Anchor.open(folder), ({ fd }) =>
      [name, name.toString('latin1')].map((same) => statIn({ folderFd: fd, name: same })!.ino),
    );
    expect(other).toBe(one);
  });

  it('is null if the entry does not exist', () => {
    const look = (name: string) =>
      within(Anchor.open(folder), ({ fd }) => statIn({ folderFd: fd, name: Buffer.from(name) }));
    expect([look('none'), look('file/none')]).toEqual([null, null]);
  });
});
