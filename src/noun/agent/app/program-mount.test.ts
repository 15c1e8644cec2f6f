import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { mountOf } from './program-mount.ts';

let top: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'carrel-program-'));
});
afterEach(() => rmSync(top, { recursive: true }));

function file(path: string, content = ''): string {
  const full = join(top, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, content);
  return full;
}

it('a program outside of any package is mounted as a single file', () => {
  const program = file('bin/agent');
  expect(mountOf(program)).toEqual({ source: program, path: '/opt/agent' });
});

it('a package that needs no other one, or contains those that it needs, is mounted alone', () => {
  file('node_modules/@a/one/package.json', '{}');
  file('node_modules/two/package.json', '{"dependencies":{"x":"1"}}');
  file('node_modules/two/node_modules/x/package.json', '{}');
  const one = mountOf(file('node_modules/@a/one/bin/cli.js'));
  expect(one).toEqual({ source: join(top, 'node_modules/@a/one'), path: '/opt/agent/bin/cli.js' });
  const two = mountOf(file('node_modules/two/cli.js'));
  expect(two).toEqual({ source: join(top, 'node_modules/two'), path: '/opt/agent/cli.js' });
});

it('a package that needs others beside it is mounted with them, in a folder of the same name', () => {
  file('node_modules/@a/one/package.json', '{"optionalDependencies":{"x":"1"}}');
  const one = mountOf(file('node_modules/@a/one/bin/cli.js'));
  expect(one).toEqual({ source: join(top, 'node_modules'), path: '/opt/agent/node_modules/@a/one/bin/cli.js' });
});
