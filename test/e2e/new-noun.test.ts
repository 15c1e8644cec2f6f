/** A new noun is a folder and a line in each of a few tables: one is added to a copy of the sources, built, and used. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { copyWithNoun, nounFiles, sourcesOf, tables } from '../fixtures/noun/noun.ts';
import { Installation } from '../harness/installation.ts';
import { breaches } from '../layering.ts';

let carrel: Installation;
let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'carrel-noun-'));
  copyWithNoun(copy);
  carrel = new Installation();
  carrel.program = join(copy, 'bin/carrel');
});

afterAll(async () => {
  await carrel.dispose();
  rmSync(copy, { recursive: true, force: true });
});

function inCopy(...argv: readonly string[]): string {
  return execFileSync(process.execPath, argv, { cwd: copy, encoding: 'utf8' });
}

it('a new noun touches only the tables that CONTRIBUTING.md names, and keeps to the import rules', () => {
  const [before, after] = [sourcesOf('.'), sourcesOf(copy)];
  const changed = [...after].filter(([path, text]) => before.get(path) !== text).map(([path]) => path);
  expect(changed.sort()).toEqual([...nounFiles().keys(), ...Object.keys(tables)].sort());
  const known = new Set(breaches(before));
  expect(breaches(after).filter((breach) => !known.has(breach))).toEqual([]);
});

it('a new noun compiles, and its route and its command work', async () => {
  const compiler = resolve('node_modules/.bin/tsc');
  execFileSync(compiler, ['-p', 'tsconfig.build.json', '--noEmit', '--incremental', 'false'], {
    cwd: copy,
    stdio: 'inherit',
  });
  inCopy('scripts/build.mjs');
  const ring = async () => (await carrel.process(['bell', 'ring', 'door'])).stdout;
  expect(await ring()).toBe('door has rung 1 times\n');
  expect(await ring()).toBe('door has rung 2 times\n');
  // The types of this checkout do not have its routes.
  const client = carrel.client as unknown as { call(route: string): Promise<unknown> };
  expect(await client.call('GET /v1/bells')).toEqual([{ name: 'door', rings: 2 }]);
});
