// @reads sources
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cycles } from './cycles.ts';
import { staircase } from './house.ts';
import { exceptions } from './house-exceptions.ts';
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
  const arrows = breaches(tree).map((breach) => breach.replace(/^(.*): may not import (.*) \(.*\)$/, '$1 → $2'));
  const known: readonly string[] = exceptions;
  expect(arrows.filter((arrow) => !known.includes(arrow))).toEqual([]);
  // The list only gets shorter.
  expect(known.filter((arrow) => !arrows.includes(arrow))).toEqual([]);
});

test('each noun has one place on the staircase', () => {
  const nouns = readdirSync(join(root, 'src/noun'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect([...staircase].sort()).toEqual(nouns.map(({ name }) => name).sort());
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
    ['src/lib/file/a.ts', "import { b } from '../../model/b.ts';"],
    ['src/kernel/engine/local/a.ts', "import { b } from '../engine.ts';"],
    ['src/kernel/server/a.ts', "import { b } from '../store/sqlite.ts';"],
    ['src/kernel/server/a.ts', "import type { b } from '../../noun/app.ts';"],
    ['src/kernel/job/a.ts', "import { b } from '../../noun/jobs.ts';"],
    ['src/kernel/settings/a.ts', "import { b } from '../../noun/app.ts';"],
    ['src/kernel/daemon/a.ts', "import { b } from '../../noun/room/rooms.ts';"],
    ['src/client/a.ts', "import { b } from '../noun/cli.ts';"],
    ['src/client/a.ts', "import type { b } from '../noun/routes.ts';"],
    ['src/noun/cli.ts', "import { b } from './room/cli/cli.ts';"],
    ['src/noun/rows.ts', "import type { b } from './room/model/room.ts';"],
    ['src/noun/app.ts', "import { b } from '../extra/chroma/app/app.ts';"],
    ['src/noun/room/model/a.ts', "import { b } from '../../swarm/model.ts';"],
    ['src/noun/room/api.ts', "import { b } from '../swarm/api.ts';"],
    ['src/noun/room/room.ts', "import type { b } from './api.ts';"],
    ['src/noun/room/inbox/a.ts', "import { b } from '../archive.ts';"],
    ['src/noun/room/a.ts', "import { b } from '../../kernel/store/store.ts';"],
    ['src/noun/room/a.ts', "import type { b } from '../../kernel/store/sqlite.ts';"],
    ['src/noun/room/a.ts', "import { b } from '../share/share.ts';"],
    ['src/noun/room/app/a.ts', "import { b } from '../rooms.ts';"],
    ['src/noun/room/app/a.ts', "import { b } from '../../../kernel/store/sqlite.ts';"],
    ['src/noun/room/app/a.ts', "import { b } from '../../share/share.ts';"],
    ['src/noun/room/app/a.ts', "import type { b } from '../../share/app/user-shares.ts';"],
    ['src/noun/room/app/wiring.ts', "import { b } from '../../share/app/user-shares.ts';"],
    ['src/noun/room/cli/a.ts', "import { b } from '../../../client/cli.ts';"],
    ['src/noun/room/cli/a.ts', "import { b } from '../../sandbox/cli/names.ts';"],
    ['src/noun/room/inside/a.ts', "import { b } from '../../../inside/tool-server.ts';"],
    ['src/noun/room/inside/a.ts', "import { b } from '../../agent/inside/program.ts';"],
    ['src/extra/chroma/app/a.ts', "import type { b } from '../../../noun/installation/app/a.ts';"],
    ['src/noun/room/a.test.ts', "import { b } from '../swarm/fake.ts';"],
    ['src/noun/room/fake.ts', "import { b } from '../swarm/swarms.ts';"],
    ['src/client/a.ts', "const commands = { shell: () => import('./shell.ts') };"],
    ['src/lib/sys/libc.ts', "import koffi from 'koffi';"],
    [
      'src/lib/process/run.ts',
      "import { execFile, spawn } from 'node:child_process';\nspawn('ls', [], { shell: false });",
    ],
    ['src/kernel/engine/a.ts', 'const found = /a/.exec(text);'],
    ['src/kernel/store/a.ts', 'x\n'.repeat(350)],
  ])('%s: %j', (path, source) => {
    expect(made({ [path]: source })).toEqual([]);
  });
});

describe('the import rules refuse', () => {
  test.each([
    ['src/model/a.ts', "import { b } from '../lib/b.ts';", 'may not import src/lib/b.ts'],
    ['src/model/a.ts', "import type { b } from '../noun/rows.ts';", 'may not import src/noun/rows.ts'],
    ['src/lib/file/a.ts', "import { b } from '../../kernel/engine/engine.ts';", 'may not import src/kernel'],
    ['src/lib/file/a.ts', "import type { b } from '../../noun/routes.ts';", 'may not import src/noun/routes.ts'],
    ['src/kernel/store/a.ts', "import type { b } from '../../noun/room/room.ts';", 'may not import src/noun/room'],
    ['src/kernel/server/a.ts', "import { b } from '../../noun/app.ts';", 'may not import src/noun/app.ts'],
    ['src/kernel/server/a.ts', "import { b } from '../daemon/scopes.ts';", 'only the daemon'],
    ['src/kernel/server/a.ts', "import { b } from '../../client/client.ts';", 'may not import src/client'],
    ['src/client/a.ts', "import type { b } from '../noun/room/api.ts';", 'may not import src/noun/room/api.ts'],
    ['src/client/a.ts', "import { b } from '../noun/app.ts';", 'may not import src/noun/app.ts'],
    ['src/inside/a.ts', "import { b } from '../noun/room/model.ts';", 'may not import src/noun/room/model.ts'],
    ['src/noun/rows.ts', "import type { b } from './room/room.ts';", 'a table of models imports only models'],
    ['src/noun/room/model/a.ts', "import type { b } from '../archive.ts';", 'model imports no mechanism'],
    ['src/noun/room/api.ts', "import type { b } from './room.ts';", 'api imports no mechanism'],
    ['src/noun/room/a.ts', "import { b } from './app/rooms.ts';", 'mechanism imports no app'],
    ['src/noun/room/a.ts', "import type { b } from './api.ts';", 'mechanism imports no api'],
    ['src/noun/room/room.ts', "import { b } from './api.ts';", 'mechanism imports no api'],
    ['src/noun/room/a.ts', "import { b } from '../../kernel/store/sqlite.ts';", 'contracts of the kernel'],
    ['src/noun/room/a.ts', "import { b } from '../share/shares.ts';", 'past the contract'],
    ['src/noun/room/a.ts', "import type { b } from '../share/shares.ts';", 'past the contract'],
    ['src/noun/share/a.ts', "import type { b } from '../room/room.ts';", 'up the stairs: share imports room'],
    ['src/noun/room/app/a.ts', "import { b } from '../../share/app/user-shares.ts';", 'past the contract'],
    ['src/noun/room/app/a.ts', "import { type b } from '../../share/app/user-shares.ts';", 'past the contract'],
    ['src/noun/share/app/a.ts', "import type { b } from '../../room/app/rooms.ts';", 'up the stairs'],
    ['src/noun/room/app/a.ts', "import { b } from '../../share/app/wiring.ts';", 'only the daemon imports a wiring'],
    ['src/noun/room/app/a.ts', "import { b } from '../cli/post.ts';", 'app imports no cli'],
    ['src/noun/room/app/a.ts', "import { b } from '../../../client/client.ts';", 'app imports no client'],
    ['src/noun/room/cli/a.ts', "import { b } from '../app/rooms.ts';", 'cli imports no app'],
    ['src/noun/room/cli/a.ts', "import type { b } from '../../../kernel/engine/engine.ts';", 'cli imports no kernel'],
    ['src/noun/share/cli/a.ts', "import { b } from '../../room/cli/post.ts';", 'up the stairs'],
    ['src/noun/room/inside/a.ts', "import { b } from '../archive.ts';", 'inside imports no mechanism'],
    ['src/noun/room/app/a.ts', "import type { b } from '../../../extra/chroma/chroma.ts';", 'core imports no extra'],
    ['src/kernel/store/a.ts', "import { b } from './fake/fake.ts';", 'only tests do'],
    ['src/kernel/daemon/a.ts', "import { b } from '../store/store.test.ts';", 'only tests do'],
    ['src/kernel/daemon/a.ts', "import { b } from '../../../test/b.ts';", 'outside of src'],
    [
      'src/kernel/store/a.ts',
      "import b from 'better-sqlite3';",
      'only src/lib/data/sqlite.ts may import better-sqlite3',
    ],
    ['src/kernel/daemon/a.ts', "import koffi from 'koffi';", 'only src/lib/sys/libc.ts may import koffi'],
    ['src/lib/file/a.ts', "import { exec } from 'node:child_process';", 'imports exec from node:child_process'],
    ['src/lib/file/a.ts', "import { execSync, spawn } from 'child_process';", 'imports exec from node:child_process'],
    ['src/lib/file/a.ts', "import * as c from 'node:child_process';", 'imports node:child_process whole'],
    ['src/lib/file/a.ts', "run('ls', { shell: true });", 'runs a shell'],
    [
      'src/lib/file/a.ts',
      "import { spawn } from 'node:child_process';\nspawn('ls', { shell: '/bin/sh' });",
      'runs a shell',
    ],
    ['src/kernel/store/a.ts', 'x\n'.repeat(351), '351 lines'],
    ['src/kernel/store/a.test.ts', 'x\n'.repeat(351), '351 lines'],
  ])('%s: %j', (path, source, rule) => {
    const found = made({ [path]: source });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`${path}: `);
    expect(found[0]).toContain(rule);
  });

  test.each([
    ['src/client/run.ts', '../lib/text/a.ts'],
    ['src/noun/room/cli/a.ts', '../../../lib/text/a.ts'],
    ['src/noun/room/inside/a.ts', '../../../lib/text/a.ts'],
    ['src/lib/wire/stream.ts', '../text/a.ts'],
  ])('%s that reaches a heavy package over two files', (path, specifier) => {
    const found = made({
      [path]: `import { a } from '${specifier}';`,
      'src/lib/text/a.ts': "export async function a() {\n  return import('./log.ts');\n}",
      'src/lib/text/log.ts': "import { b } from './a.ts';\nimport { pino } from 'pino/file';",
    });
    expect(found).toEqual([`${path}: reaches pino through src/lib/text/log.ts`]);
  });
});
