import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { prepareTools, sweepTools, toolsName } from './tools.ts';

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'carrel-tools-')), 'tools');
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true }));

test('prepareTools makes one complete copy that every user can read', () => {
  prepareTools(folder);
  const made = statSync(join(folder, toolsName())).ino;
  prepareTools(folder);
  expect(readdirSync(folder)).toEqual([toolsName()]);
  expect(statSync(join(folder, toolsName())).ino).toBe(made);
  const launcher = join(folder, toolsName(), 'carrel-adapter');
  expect(statSync(launcher).mode & 0o777).toBe(0o755);
  expect(readFileSync(launcher, 'utf8')).toContain('/opt/carrel/bin/lib/carrel-adapter.js');
  for (const name of ['package.json', 'carrel-adapter.js', 'demo-agent.js', 'carrel-agent.js', 'carrel-configure.js'])
    expect(existsSync(join(folder, toolsName(), 'lib', name))).toBe(true);
});

test('sweepTools removes other versions and incomplete copies', () => {
  prepareTools(folder);
  for (const name of ['0123456789abcdef', 'new-abc']) mkdirSync(join(folder, name));
  sweepTools(folder);
  expect(readdirSync(folder)).toEqual([toolsName()]);
  sweepTools(join(folder, 'none'));
});
