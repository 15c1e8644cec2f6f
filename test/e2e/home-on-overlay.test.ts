// @needs root
/** A home on overlayfs, as in most containers: no overlay can be mounted there. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Installation } from '../harness/installation.ts';

let folder: string;
let carrel: Installation;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-overlay-'));
  for (const name of ['lower', 'upper', 'work']) mkdirSync(join(folder, name));
  carrel = new Installation();
  const options = ['lower', 'upper', 'work'].map((name) => `${name}dir=${join(folder, name)}`).join(',');
  execFileSync('mount', ['-t', 'overlay', '-o', options, 'carrel-test', carrel.home]);
});
afterAll(async () => {
  const names = (await carrel.list()).map(({ name }) => name);
  if (names.length > 0) await carrel.ok('rm', '--force', ...names);
  await carrel.ok('down');
  execFileSync('umount', [carrel.home]);
  carrel.forget();
  rmSync(folder, { recursive: true });
});

it('a home on overlayfs runs commands, and keeps homes of sandboxes', async () => {
  await carrel.ok('create', '--name', 'box');
  await carrel.ok('exec', 'box', '--', 'sh', '-c', 'echo kept > ~/note');
  await carrel.ok('stop', '--grace', '0', 'box');
  await carrel.ok('start', 'box');
  expect(await carrel.ok('exec', 'box', '--', 'cat', '/home/agent/note')).toBe('kept\n');
});

it('a project with a home on overlayfs is refused with the reason and a hint', async () => {
  const { exitCode, stderr } = await carrel.run(['run', carrel.folder('project'), '--', 'true']);
  expect(exitCode).toBe(3);
  expect(stderr).toContain('cannot show its owner as agent');
  expect(stderr).toContain('ext4');
});
