import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fromBytes } from '../../../../../model/byte-path.ts';
import { Folders } from '../../../tree/folders.ts';
import { type LinkLimits, projectLinks } from './project-links.ts';

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'carrel-links-'));
});
afterEach(() => rmSync(project, { recursive: true }));

function found(limits?: LinkLimits) {
  const folders = new Folders(project);
  try {
    const { links, whole } = projectLinks(folders, limits);
    return { links: Object.fromEntries(links), whole };
  } finally {
    folders.close();
  }
}

it('every link of a project is found, also in .git/hooks and of any name, and no folder is entered through a link', () => {
  mkdirSync(join(project, 'a/b/c'), { recursive: true });
  mkdirSync(join(project, '.git/hooks'), { recursive: true });
  mkdirSync(join(project, '.git/objects/pack'), { recursive: true });
  writeFileSync(join(project, 'a/file'), '');
  symlinkSync('b', join(project, 'a/l'));
  symlinkSync('/', join(project, 'a/b/root'));
  symlinkSync('gone', join(project, 'a/b/c/dangling'));
  symlinkSync('../../tools/pre-commit', join(project, '.git/hooks/pre-commit'));
  symlinkSync('x', join(project, '.git/objects/pack/x'));
  symlinkSync('loop', join(project, 'loop'));
  symlinkSync(Buffer.from([0xff]), Buffer.concat([Buffer.from(`${project}/`), Buffer.from([0xfe])]));
  expect(found()).toEqual({
    links: {
      'a/l': 'b',
      'a/b/root': '/',
      'a/b/c/dangling': 'gone',
      '.git/hooks/pre-commit': '../../tools/pre-commit',
      loop: 'loop',
      [fromBytes(Buffer.from([0xfe]))]: fromBytes(Buffer.from([0xff])),
    },
    whole: true,
  });
});

it('`whole` is false when the time or the number of links exceeds its limit', () => {
  for (const name of ['a', 'b', 'c']) {
    mkdirSync(join(project, name));
    symlinkSync('x', join(project, name, 'l'));
  }
  expect(found({ ms: 0, links: 10 }).whole).toBe(false);
  expect(found({ ms: 10_000, links: 1 }).whole).toBe(false);
  expect(found({ ms: 10_000, links: 10 }).whole).toBe(true);
});
