/** A home of each released version works with this one. */
import { copyFileSync, cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { schemaVersion } from '../../src/kernel/store/migrations.ts';
import { openSqlite } from '../../src/lib/data/sqlite.ts';
import { Installation, type SandboxView } from '../harness/installation.ts';

let carrel: Installation;

beforeEach(() => {
  carrel = new Installation();
});
afterEach(() => carrel.dispose());

/** Each release with the version of its store. */
const releases = [['0.1.0', 1]] as const;

it.each(releases)('a home of version %s: its sandboxes are listed, start, and are removed', async (release) => {
  fill(release);
  expect(await states()).toEqual(['old failed', 'web stopped']);
  await carrel.ok('start', 'web');
  expect(await carrel.ok('exec', 'web', 'echo', 'here')).toBe('here\n');
  await carrel.ok('rm', '--force', 'old', 'web');
  expect(await states()).toEqual([]);
});

it.each(releases)(
  'a later daemon upgrades a home of version %s, and the copy that it keeps works with this one',
  async (release, version) => {
    fill(release);
    const here = carrel.program;
    carrel.program = laterProgram();
    expect(await states()).toEqual(['old failed', 'web stopped']);
    expect((await carrel.show('web')).labels).toEqual({ upgraded: 'yes' });
    await carrel.ok('start', 'web');
    await carrel.ok('stop', '--grace', '0', 'web');
    await carrel.ok('down');

    carrel.program = here;
    const newer = `carrel.db has version ${schemaVersion + 1}; this Carrel knows up to ${schemaVersion}`;
    expect((await carrel.run(['ls'])).stderr).toContain(newer);
    const copy = join(carrel.home, `carrel.db.v${version}`);
    for (const end of ['', '-wal', '-shm']) rmSync(join(carrel.home, `carrel.db${end}`), { force: true });
    copyFileSync(copy, join(carrel.home, 'carrel.db'));
    expect(await states()).toEqual(['old failed', 'web stopped']);
    expect((await carrel.show('web')).labels).toEqual({});
  },
);

function fill(release: string): void {
  const db = openSqlite(join(carrel.home, 'carrel.db'));
  db.exec(readFileSync(`test/fixtures/store-${release}.sql`, 'utf8'));
  db.close();
}

async function states(): Promise<string[]> {
  return (await carrel.json<SandboxView[]>('ls')).map(({ name, state }) => `${name} ${state}`).sort();
}

/** A copy of this program with one more migration of the store. */
function laterProgram(): string {
  const folder = carrel.folder('later');
  for (const name of ['bin', 'dist', 'package.json']) cpSync(name, join(folder, name), { recursive: true });
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  const daemon = join(folder, 'dist/program/daemon.script.js');
  const upgrade = `UPDATE rows SET value = json_set(value, '$.spec.labels.upgraded', 'yes') WHERE name = 'web'`;
  const text = readFileSync(daemon, 'latin1');
  const later = text.replace(/(const migrations = \[[^\]]*)\]/, (_, known) => `${known}, \`${upgrade}\`]`);
  expect(later).toContain(upgrade);
  writeFileSync(daemon, later, 'latin1');
  rmSync(`${daemon}.cache`);
  return join(folder, 'bin/carrel');
}
