/** Spokes of an ordinary user: tools for files, code and commands. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Installation } from '../harness/installation.ts';
import { createRootlessAccount, type RootlessAccount, rootlessUid } from '../harness/rootless.ts';

let account: RootlessAccount;
let carrel: Installation;
let shop: string;

beforeAll(async () => {
  account = createRootlessAccount();
  carrel = new Installation(account);
  shop = carrel.folder('shop');
  await carrel.ok('project', 'add', shop);
});
afterAll(async () => {
  await carrel.dispose();
  account.dispose();
});

async function call(tool: string, input: object): Promise<Record<string, unknown>> {
  const asked = JSON.stringify({ project: 'shop', ...input });
  return JSON.parse(await carrel.ok('--json', 'hub', 'call', tool, asked)) as Record<string, unknown>;
}

it('files, code and commands work without root, and files belong to the user', async () => {
  await call('create_file', { path: 'tsconfig.json', content: '{}' });
  await call('create_file', { path: 'price.ts', content: 'export const price = 1;\n' });
  await call('create_file', { path: 'main.ts', content: "import { price } from './price';\nprice;\n" });
  expect(statSync(join(shop, 'price.ts')).uid).toBe(rootlessUid);
  expect(await call('search_text', { pattern: 'export' })).toMatchObject({ matches: [{ line: 1 }] });
  expect(await call('find_references', { path: 'price.ts', symbol: 'price' })).toMatchObject({ status: 'complete' });
  await call('rename_symbol', { path: 'price.ts', symbol: 'price', new_name: 'cost' });
  expect(readFileSync(join(shop, 'main.ts'), 'utf8')).toContain('import { cost }');
  const command = ['sh', '-c', 'id -un; cat price.ts'];
  expect(await call('run_command', { command })).toMatchObject({ stdout: 'agent\nexport const cost = 1;\n' });
});
