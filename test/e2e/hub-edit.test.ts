/** Edits over several projects, with a daemon, a spoke or a client that is killed on the way. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Installation, until } from '../harness/installation.ts';

let carrel: Installation;
let shop: string;
let store: string;

beforeAll(async () => {
  carrel = new Installation();
  shop = carrel.folder('shop');
  store = carrel.folder('store');
  await carrel.ok('project', 'add', shop);
  await carrel.ok('project', 'add', store);
});
afterAll(() => carrel.dispose());

const old = 'price\r\n\tname';
beforeEach(() => {
  for (const folder of [shop, store]) {
    rmSync(join(folder, 'new'), { recursive: true, force: true });
    writeFileSync(join(folder, 'a.txt'), old);
    writeFileSync(join(folder, 'gone.txt'), old, { mode: 0o755 });
  }
});

const changesOf = (project: string) => [
  { project, kind: 'edit', path: 'a.txt', edits: [{ old_text: 'price', new_text: 'cost' }] },
  { project, kind: 'rename', path: 'gone.txt', to: 'new/moved.txt' },
];
const both = (dry_run = false) => JSON.stringify({ changes: [...changesOf('shop'), ...changesOf('store')], dry_run });
const call = (input: string) => carrel.run(['hub', 'call', 'apply_workspace_edit', input]);

function stateOf(folder: string): 'old' | 'new' | 'between' {
  const text = readFileSync(join(folder, 'a.txt'), 'utf8');
  const names = readdirSync(folder).sort().join(' ');
  if (text === old && names === 'a.txt gone.txt' && (statSync(join(folder, 'gone.txt')).mode & 0o777) === 0o755)
    return 'old';
  return text === old.replace('price', 'cost') && names === 'a.txt new' ? 'new' : 'between';
}

it('dry_run shows a diff of all projects and changes nothing', async () => {
  const { stdout } = await call(both(true));
  expect(JSON.parse(stdout)).toMatchObject({
    count: 4,
    dry_run: true,
    diff: expect.stringContaining('# project store\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-price\r\n+cost\r\n'),
  });
  expect([stateOf(shop), stateOf(store)]).toEqual(['old', 'old']);
});

it('an edit changes neither project if a file of one changed since it was read', async () => {
  const changes = [...changesOf('shop'), { ...changesOf('store')[0], expected_hash: '0'.repeat(64) }];
  expect(await call(JSON.stringify({ changes }))).toMatchObject({
    exitCode: 6,
    stderr: expect.stringMatching(/a\.txt" is not as it was/),
  });
  expect([stateOf(shop), stateOf(store)]).toEqual(['old', 'old']);
});

it('an edit with a project that does not exist changes no other project', async () => {
  expect(await call(JSON.stringify({ changes: [...changesOf('shop'), ...changesOf('nope')] }))).toMatchObject({
    exitCode: 5,
  });
  expect(stateOf(shop)).toBe('old');
});

describe('an overlay project', () => {
  let lib: string;
  const tool = async (name: string, input: object) =>
    JSON.parse(await carrel.ok('hub', 'call', name, JSON.stringify({ project: 'lib', ...input })));

  beforeAll(async () => {
    lib = carrel.folder('lib');
    mkdirSync(join(lib, 'src'));
    writeFileSync(join(lib, 'tsconfig.json'), '{"compilerOptions":{"allowImportingTsExtensions":true,"noEmit":true}}');
    writeFileSync(join(lib, 'src/price.ts'), 'export const price = 1;\n');
    writeFileSync(join(lib, 'src/shop.ts'), "import { price } from './price.ts';\nexport const sum = price;\n");
    await carrel.ok('project', 'add', lib, '--mode', 'overlay');
  });

  it('gets a symbol renamed in all files of the working copy, and imports adapted to moved files', async () => {
    const at = { path: 'src/shop.ts', line: 2, column: 20, new_name: 'cost' };
    expect(await tool('rename_symbol', { ...at, dry_run: true })).toMatchObject({
      count: 2,
      server: 'typescript',
      diff: expect.stringContaining('-export const price = 1;\n+export const cost = 1;\n'),
    });
    await tool('rename_symbol', at);
    await tool('rename_file', { from: 'src/price.ts', to: 'src/cost.ts' });
    expect((await tool('read_file', { path: 'src/shop.ts' })).content).toBe(
      "import { cost } from './cost.ts';\nexport const sum = cost;\n",
    );
    expect(readdirSync(join(lib, 'src'))).toEqual(['price.ts', 'shop.ts']);
  });

  it('gets a folder of the base moved in the working copy', async () => {
    await carrel.ok(
      ...['hub', 'call', 'apply_workspace_edit'],
      JSON.stringify({ changes: [{ project: 'lib', kind: 'rename', path: 'src', to: 'lib/src' }] }),
    );
    const { files } = await tool('list_files', { depth: 5 });
    expect(files.map(({ path }: { path: string }) => posix.relative('/workspaces/lib', path))).toEqual([
      ...['lib', 'lib/src', 'lib/src/cost.ts', 'lib/src/shop.ts', 'tsconfig.json'],
    ]);
  });
});

describe('a daemon that is killed', () => {
  it.each([
    ['edits:begun', 'old'],
    ['edits:prepared', 'old'],
    ['edits:applied', 'old'],
    ['edits:done', 'new'],
    ['edits:concluded', 'new'],
  ])('at %s leaves both projects %s after the next start', async (point, state) => {
    await carrel.crashDuring(point, 'hub', 'call', 'apply_workspace_edit', both());
    await carrel.list();
    await until(() => stateOf(shop) === state && stateOf(store) === state, `both projects to be ${state}`);
    if (state === 'old') expect(await call(both())).toMatchObject({ exitCode: 0 });
    expect([stateOf(shop), stateOf(store)]).toEqual(['new', 'new']);
  });
});
