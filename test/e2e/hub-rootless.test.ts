// @needs root
/** The hub of an ordinary user: tools for files, code and commands, and environments. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callTool, connectHub } from '../harness/hub-client.ts';
import { Installation } from '../harness/installation.ts';
import { createRootlessAccount, type RootlessAccount, rootlessUid } from '../harness/rootless.ts';

let account: RootlessAccount;
let carrel: Installation;
let shop: string;

beforeAll(async () => {
  account = createRootlessAccount();
  carrel = new Installation(account);
  shop = carrel.folder('shop');
  await carrel.ok('up', '-d', '--port', '0');
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

it('environments are created, forked, snapshotted, merged and removed without root, and files belong to the user', async () => {
  const { mcp: url } = await carrel.json<{ mcp: string }>('status');
  const token = (await carrel.ok('hub', 'token', '--project', 'shop', '--tools', 'environment')).trim();
  const asked: string[] = [];
  const answer = (message: string) => {
    asked.push(message);
    return { action: 'accept' as const, content: {} };
  };
  const client = await connectHub(carrel, { answer, port: { kind: 'HTTP', url, token } });
  const use = (tool: string, input: object) => callTool(client, `environment_${tool}`, { project: 'shop', ...input });
  const run = (environment: unknown, script: string) => use('run', { environment, command: ['sh', '-c', script] });
  try {
    const { environment: one } = await use('create', { name: 'one' });
    expect(await run(one, 'echo one > one.txt; id -u')).toMatchObject({ exit_code: 0 });
    expect(await use('snapshot', { environment: one })).toMatchObject({ snapshot: '0001' });
    const { environment: two } = await use('fork', { environment: one, name: 'two' });
    await run(two, 'rm one.txt; echo two > two.txt');
    expect(await use('diff', { environment: two })).toMatchObject({ changes: [{ path: 'two.txt', status: 'A' }] });
    const { environments } = await use('list', {});
    expect(environments).toMatchObject([{ environment: 'shop-one' }, { environment: 'shop-two' }]);
    expect(await use('merge', { environments: [one, two] })).toMatchObject({ applied: true });
    await run(one, 'echo three > three.txt');
    expect(await use('apply', { environment: one })).toMatchObject({ applied: true });
    expect(asked).toEqual([expect.stringContaining('2 changes'), expect.stringContaining('three.txt')]);
    for (const name of ['one', 'two', 'three']) {
      expect(readFileSync(join(shop, `${name}.txt`), 'utf8')).toBe(`${name}\n`);
      expect(statSync(join(shop, `${name}.txt`)).uid).toBe(rootlessUid);
    }
    for (const environment of [one, two]) await use('remove', { environment });
    expect(await use('list', {})).toMatchObject({ environments: [] });
  } finally {
    await client.close();
  }
});
