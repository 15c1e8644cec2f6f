/** A home of each released version works with this one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Installation, type SandboxView } from '../harness/installation.ts';

let carrel: Installation;

beforeEach(() => {
  carrel = new Installation();
});
afterEach(() => carrel.dispose());

it.each(['0.1.0'])('a home of version %s: its sandboxes are listed, start, and are removed', async (release) => {
  const db = new Database(join(carrel.home, 'carrel.db'));
  db.exec(readFileSync(`test/fixtures/store-${release}.sql`, 'utf8'));
  db.close();
  const states = async () =>
    (await carrel.json<SandboxView[]>('ls')).map(({ name, state }) => `${name} ${state}`).sort();
  expect(await states()).toEqual(['old failed', 'web stopped']);
  await carrel.ok('start', 'web');
  expect(await carrel.ok('exec', 'web', 'echo', 'here')).toBe('here\n');
  await carrel.ok('rm', '--force', 'old', 'web');
  expect(await states()).toEqual([]);
});
