/** Environments over the hub when the daemon is killed during a tool. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { callTool as call, connectHub } from '../harness/hub-client.ts';
import { Installation, isRunning, until } from '../harness/installation.ts';

let carrel: Installation;
let shop: string;
const clients: Client[] = [];

beforeAll(async () => {
  carrel = new Installation();
  shop = carrel.folder('shop');
  writeFileSync(join(shop, 'price'), '1\n');
  await carrel.ok('project', 'add', shop);
  const client = await connect();
  for (const name of ['half', 'other']) await call(client, 'environment_create', { project: 'shop', name });
  await run(client, 'shop-half', 'mkdir half; touch half/1 half/2');
  await run(client, 'shop-other', 'touch other');
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
afterAll(() => carrel.dispose());

async function connect(): Promise<Client> {
  const client = await connectHub(carrel, { args: ['--tools', 'environment,apply'] });
  clients.push(client);
  return client;
}

function run(client: Client, environment: string, script: string) {
  return call(client, 'environment_run', { project: 'shop', environment, command: ['sh', '-c', script] });
}

const inShop = (name: string) => join(shop, name);

it.each([
  ['environment_create', 'start:created', { project: 'shop', name: 'crash' }],
  ['environment_apply', 'apply:recorded', { project: 'shop', environment: 'shop-half' }],
  ['environment_merge', 'apply:recorded', { project: 'shop', environments: ['shop-half', 'shop-other'] }],
])('nothing is half done after the daemon dies during %s', async (tool, point, input) => {
  const client = await connect();
  const pid = await carrel.dieAt(point);
  await expect(call(client, tool, input)).rejects.toThrow();
  await until(() => !isRunning(pid), 'the daemon to die');
  // The harness starts the next daemon, so that a later test can make it die, too.
  await carrel.list();
  expect([existsSync(inShop('half')), existsSync(inShop('other'))]).toEqual([false, false]);
  const again = await connect();
  if (tool === 'environment_create') {
    await until(async () => (await carrel.list()).every(({ state }) => state !== 'pending'), 'the start to settle');
    const found = (await carrel.list()).find(({ name }) => name === 'shop-crash');
    if (found === undefined) await call(again, tool, input);
    expect(await run(again, 'shop-crash', 'cat price')).toMatchObject({ exit_code: 0 });
  } else {
    expect(await call(again, tool, { ...input, dry_run: true })).toMatchObject({ blocked: null });
  }
});
