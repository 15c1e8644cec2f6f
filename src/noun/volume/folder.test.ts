import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureFolder, goneNames, isEmptyFolder, setAside, sizeOf, swap, takeBack, withStaged } from './folder.ts';

let volumes: string;
beforeEach(() => {
  volumes = mkdtempSync(join(tmpdir(), 'carrel-volumes-'));
});
afterEach(() => rmSync(volumes, { recursive: true }));

const at = (name: string) => join(volumes, name);

function folder(name: string, file: string): void {
  mkdirSync(at(name));
  writeFileSync(join(at(name), file), file);
}

const content = () =>
  Object.fromEntries(
    readdirSync(volumes)
      .sort()
      .map((name) => [name, readdirSync(at(name))]),
  );

describe('the folder of a volume', () => {
  it('is private, and stays as it is when it is asked for again', () => {
    ensureFolder(at('v'), null);
    expect(lstatSync(at('v')).mode & 0o777).toBe(0o700);
    writeFileSync(join(at('v'), 'a'), '');
    ensureFolder(at('v'), null);
    expect(content()).toEqual({ v: ['a'] });
  });

  it('is not made where anything else is, and a link is not followed', () => {
    const outside = mkdtempSync(join(tmpdir(), 'carrel-volumes-'));
    try {
      symlinkSync(outside, at('link'));
      symlinkSync(join(outside, 'nothing'), at('dangling'));
      writeFileSync(at('file'), '');
      for (const name of ['link', 'dangling', 'file'])
        expect(() => ensureFolder(at(name), null), name).toThrow(expect.objectContaining({ code: 'denied' }));
      expect(readdirSync(outside)).toEqual([]);
    } finally {
      rmSync(outside, { recursive: true });
    }
  });

  it('that a link stands for has no size and cannot be read', async () => {
    symlinkSync('/', at('link'));
    expect(await sizeOf(at('link'))).toBeNull();
    expect(await sizeOf(at('nothing'))).toBeNull();
    expect(() => isEmptyFolder(at('link'))).toThrow();
  });
});

describe('new content', () => {
  it('takes the place of the old at once', () => {
    folder('v', 'old');
    folder('.new-v-1', 'new');
    swap(volumes, at('.new-v-1'), 'v');
    expect(content()).toEqual({ '.new-v-1': ['old'], v: ['new'] });
  });

  it('is removed if it could not be made, and the volume keeps what it had', async () => {
    folder('v', 'old');
    const failing = withStaged(volumes, 'v', async (staged) => {
      writeFileSync(join(staged, 'half'), '');
      throw new Error('no more');
    });
    await expect(failing).rejects.toThrow('no more');
    expect(content()).toEqual({ v: ['old'] });
  });

  it('has a folder of its own each time', async () => {
    const seen = await Promise.all(
      [1, 2].map(() => withStaged(volumes, 'v', async (staged) => [staged, lstatSync(staged).mode & 0o777])),
    );
    expect(seen.map(([, mode]) => mode)).toEqual([0o700, 0o700]);
    expect(seen[0]![0]).not.toBe(seen[1]![0]);
  });
});

describe('after a crash between the renames of a filesystem that cannot exchange', () => {
  it('the old content comes back if the new is not in place', () => {
    folder('.old-v', 'old');
    folder('.new-v-1', 'new');
    takeBack(volumes);
    expect(content()).toEqual({ '.new-v-1': ['new'], v: ['old'] });
  });

  it('the new content stays if it is in place, and the old is left to be removed', () => {
    folder('.old-v', 'old');
    folder('v', 'new');
    takeBack(volumes);
    expect(content()).toEqual({ '.new-.old-v': ['old'], v: ['new'] });
  });

  it('nothing happens to other volumes, also if it is done again', () => {
    folder('.old-v', 'old');
    folder('w', 'other');
    for (let times = 0; times < 2; times += 1) takeBack(volumes);
    expect(content()).toEqual({ v: ['old'], w: ['other'] });
  });
});

it('a removal has begun as soon as the volume is set aside, and a volume that is gone has none', () => {
  folder('v', 'old');
  setAside(volumes, 'v');
  setAside(volumes, 'nothing');
  expect([goneNames(volumes), content()]).toEqual([['v'], { '.gone-v': ['old'] }]);
});
