import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cycles } from './cycles.ts';
import { breaches, importsOf, type Tree } from './layering.ts';

const root = join(import.meta.dirname, '..');

function treeOf(folder: string): Tree {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.includes('node_modules/'),
  );
  return new Map(files.map((name) => [`${folder}/${name}`, readFileSync(join(root, folder, name), 'utf8')]));
}

function made(files: Record<string, string>): string[] {
  return breaches(new Map(Object.entries(files)));
}

test('the source keeps to the import rules', () => {
  const tree = treeOf('src');
  expect(tree.size).toBeGreaterThan(10);
  expect(breaches(tree)).toEqual([]);
});

test('no files of the source import each other in a circle, types included', () => {
  expect(cycles(treeOf('src'))).toEqual([]);
});

test('members of classes are private by `#`, which holds at run time', () => {
  const found = ['src', 'test'].flatMap((folder) =>
    [...treeOf(folder)].filter(([, source]) => /^\s+private (?!constructor)\w/m.test(source)).map(([path]) => path),
  );
  expect(found).toEqual([]);
});

describe('a cycle', () => {
  const found = (files: Record<string, string>) => cycles(new Map(Object.entries(files)));
  const [toB, toC, toA] = ['b', 'c', 'a'].map((name) => `import type { X } from './${name}.ts';`) as [
    string,
    string,
    string,
  ];

  test('of types over three files is found, with their names', () => {
    const files = { 'src/a.ts': toB, 'src/b.ts': toC, 'src/c.ts': toA, 'src/d.ts': toA };
    expect(found(files)).toEqual(['these files import each other: src/a.ts, src/b.ts, src/c.ts']);
  });

  test('of values, and of a file with itself, is found', () => {
    const files = { 'src/a.ts': "const b = await import('./b.ts');", 'src/b.ts': toA, 'src/c.ts': toC };
    expect(found(files)).toEqual([
      'these files import each other: src/a.ts, src/b.ts',
      'these files import each other: src/c.ts',
    ]);
  });

  test('is not two ways to the same file, nor what a test imports', () => {
    expect(found({ 'src/a.ts': `${toB}\n${toC}`, 'src/b.ts': toC, 'src/c.ts': '', 'src/c.test.ts': toA })).toEqual([]);
  });
});

describe('imports are read from', () => {
  test.each([
    ["import { a } from './a.ts';", './a.ts', false],
    ["import a, { type B } from './a.ts';", './a.ts', false],
    ["import * as a from './a.ts';", './a.ts', false],
    ["import {\n  a,\n  b,\n} from './a.ts';", './a.ts', false],
    ["import './a.ts';", './a.ts', false],
    ["export * from './a.ts';", './a.ts', false],
    ["export { a } from './a.ts';", './a.ts', false],
    ["  const a = await import('./a.ts');", './a.ts', false],
    ["const a = require('koffi');", 'koffi', false],
    ["import type { A } from './a.ts';", './a.ts', true],
    ["export type { A } from './a.ts';", './a.ts', true],
  ])('%j', (source, specifier, typeOnly) => {
    expect(importsOf(source)).toEqual([{ specifier, typeOnly }]);
  });

  test.each([["export const a = 'b';"], [" * import { a } from './a.ts';"], ["const text = 'import';"]])(
    'not %j',
    (source) => {
      expect(importsOf(source)).toEqual([]);
    },
  );
});

describe('the import rules allow', () => {
  test.each([
    ['src/lib/a.ts', "import { b } from '../model/b.ts';"],
    ['src/engine/local/a.ts', "import { b } from '../engine.ts';"],
    ['src/engine/a.ts', "import { b } from '../lib/b.ts';"],
    ['src/launch/a.ts', "import { b } from '../engine/engine.ts';"],
    ['src/launch/a.ts', "import type { b } from '../volume/folder.ts';"],
    ['src/reconcile/a.ts', "import { b } from '../launch/b.ts';"],
    ['src/reconcile/a.ts', "import { b } from '../store/store.ts';"],
    ['src/reconcile/a.test.ts', "import { b } from '../store/memory.ts';"],
    ['src/daemon/a.ts', "import { b } from '../store/sqlite.ts';"],
    ['src/app/room/a.ts', "import { b } from '../../store/sqlite.ts';"],
    ['src/app/room/a.ts', "import type { b } from '../share/shares.ts';"],
    ['src/app/room/a.ts', "import { b } from '../home.ts';"],
    ['src/app/room/tool/a.ts', "import { b } from '../rooms.ts';"],
    ['src/app/app.ts', "import { room } from './room/room.ts';"],
    ['src/server/a.ts', "import { b } from '../app/app.ts';"],
    ['src/api/routes.ts', "import type { b } from '../app/app.ts';"],
    ['src/cli/a.ts', "import { b } from '../api/client.ts';"],
    ['src/cli/a.ts', "import type { b } from '../api/routes.ts';"],
    ['src/cli/a.ts', "const commands = { shell: () => import('./shell.ts') };"],
    ['src/lib/libc.ts', "import koffi from 'koffi';"],
    ['src/lib/run.ts', "import { execFile, spawn } from 'node:child_process';\nspawn('ls', [], { shell: false });"],
    ['src/engine/a.ts', 'const found = /a/.exec(text);'],
    ['src/store/a.ts', 'x\n'.repeat(350)],
  ])('%s: %j', (path, source) => {
    expect(made({ [path]: source, 'src/api/routes.ts': "import { z } from 'zod';" })).toEqual([]);
  });
});

describe('the import rules refuse', () => {
  test.each([
    ['src/model/a.ts', "import { b } from '../lib/b.ts';", 'may not import src/lib/b.ts'],
    ['src/model/a.ts', "import type { b } from '../store/store.ts';", 'may not import src/store/store.ts'],
    ['src/lib/a.ts', "import { b } from '../engine/engine.ts';", 'may not import src/engine/engine.ts'],
    ['src/engine/a.ts', "import { b } from '../store/store.ts';", 'may not import src/store/store.ts'],
    ['src/engine/a.ts', "import type { b } from '../store/store.ts';", 'may not import src/store/store.ts'],
    ['src/engine/a.ts', "import { b } from '../launch/b.ts';", 'may not import src/launch/b.ts'],
    ['src/room/a.ts', "const { b } = await import('../hub/hub.ts');", 'may not import src/hub/hub.ts'],
    ['src/launch/a.ts', "import { b } from '../engine/fake/fake.ts';", 'may not import src/engine/fake/fake.ts'],
    ['src/launch/a.ts', "import { b } from '../reconcile/b.ts';", 'may not import src/reconcile/b.ts'],
    ['src/reconcile/a.ts', "import { b } from '../store/sqlite.ts';", 'may not import src/store/sqlite.ts'],
    ['src/reconcile/a.ts', "import { b } from '../api/routes.ts';", 'may not import src/api/routes.ts'],
    ['src/api/a.ts', "import { b } from '../store/store.ts';", 'may not import src/store/store.ts'],
    ['src/api/routes.ts', "import { b } from '../app/app.ts';", 'may not import src/app/app.ts'],
    ['src/api/client.ts', "import type { b } from '../app/app.ts';", 'may not import src/app/app.ts'],
    ['src/cli/a.ts', "import { b } from '../daemon/b.ts';", 'may not import src/daemon/b.ts'],
    ['src/app/room/a.ts', "import type { b } from '../../server/server.ts';", 'may not import src/server/server.ts'],
    ['src/app/room/a.ts', "import { b } from '../share/shares.ts';", 'may not import src/app/share/shares.ts'],
    ['src/app/room/a.ts', "import { type b } from '../share/shares.ts';", 'may not import src/app/share/shares.ts'],
    ['src/server/a.ts', "import { b } from '../daemon/daemon.ts';", 'may not import src/daemon/daemon.ts'],
    ['src/job/a.ts', "import { b } from '../app/home.ts';", 'may not import src/app/home.ts'],
    ['src/cli/a.ts', "import { b } from '../engine/engine.ts';", 'may not import src/engine/engine.ts'],
    ['src/daemon/a.ts', "import { b } from '../store/store.test.ts';", 'may not import src/store/store.test.ts'],
    ['src/daemon/a.ts', "import { b } from '../../test/b.ts';", 'may not import test/b.ts'],
    ['src/store/a.ts', "import b from 'better-sqlite3';", 'only src/lib/sqlite.ts may import better-sqlite3'],
    ['src/daemon/a.ts', "import koffi from 'koffi';", 'only src/lib/libc.ts may import koffi'],
    ['src/lib/a.ts', "import { exec } from 'node:child_process';", 'imports exec from node:child_process'],
    ['src/lib/a.ts', "import { execSync, spawn } from 'child_process';", 'imports exec from node:child_process'],
    ['src/lib/a.ts', "import * as c from 'node:child_process';", 'imports node:child_process whole'],
    ['src/lib/a.ts', "run('ls', { shell: true });", 'runs a shell'],
    ['src/lib/a.ts', "import { spawn } from 'node:child_process';\nspawn('ls', { shell: '/bin/sh' });", 'runs a shell'],
    ['src/store/a.ts', 'x\n'.repeat(351), '351 lines'],
    ['src/store/a.test.ts', 'x\n'.repeat(351), '351 lines'],
  ])('%s: %j', (path, source, rule) => {
    const found = made({ [path]: source });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`${path}: `);
    expect(found[0]).toContain(rule);
  });

  test.each(['src/cli/run.ts', 'src/api/client.ts', 'src/api/api.ts', 'src/api/stream.ts'])(
    '%s that reaches a heavy package over two files',
    (path) => {
      const found = made({
        [path]: "import { a } from '../lib/a.ts';",
        'src/lib/a.ts': "export async function a() {\n  return import('./log.ts');\n}",
        'src/lib/log.ts': "import { b } from './a.ts';\nimport { pino } from 'pino/file';",
      });
      expect(found).toEqual([`${path}: reaches pino through src/lib/log.ts`]);
    },
  );
});
