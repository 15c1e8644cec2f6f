/**
 * Environments over the hub: what an agent that orchestrates does, what it cannot reach, and what the person is asked.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, ElicitResult } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { callTool as call, connectHub, type HubOptions } from '../harness/hub-client.ts';
import { Installation, until } from '../harness/installation.ts';
import { knowScripted, lines, SwarmProject } from '../harness/swarm.ts';

let carrel: Installation;
let shop: string;
let store: string;
const clients: Client[] = [];
const groups = ['--tools', 'files,environment,swarm'];
const withApply = ['--tools', 'environment,apply'];
const accepts: HubOptions['answer'] = () => ({ action: 'accept', content: { allow: true } });

beforeAll(async () => {
  carrel = new Installation();
  knowScripted(carrel);
  await carrel.ok('up', '-d', '--port', '0');
  shop = carrel.folder('shop');
  store = carrel.folder('store');
  mkdirSync(join(shop, 'src'));
  writeFileSync(join(shop, 'src/price.ts'), 'export const price = 1;\n');
  writeFileSync(join(store, 'README'), 'a store\n');
  await carrel.ok('project', 'add', shop);
  await carrel.ok('project', 'add', store);
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
afterAll(() => carrel.dispose());

async function connect(options: HubOptions = {}): Promise<Client> {
  const client = await connectHub(carrel, { args: groups, ...options });
  clients.push(client);
  return client;
}

/** An environment of the shop in which a script ran. */
async function made(client: Client, name: string, script = ':'): Promise<string> {
  const { environment } = await call(client, 'environment_create', { project: 'shop', name });
  await run(client, environment as string, script);
  return environment as string;
}

function run(client: Client, environment: string, script: string) {
  return call(client, 'environment_run', { project: 'shop', environment, command: ['sh', '-c', script] });
}

const inShop = (name: string) => join(shop, name);

describe.each([
  ['2025-11-25', false],
  ['2026-07-28', true],
])('a client of revision %s', (revision, modern) => {
  it('orchestrates two environments of a project and merges them after the person agreed', async () => {
    const asked: string[] = [];
    const answer = (message: string): ElicitResult => {
      asked.push(message);
      return { action: 'accept', content: {} };
    };
    const client = await connect({ modern, answer });
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    const first = await made(client, `a-${revision}`, `echo one > one-${revision}`);
    const { environment: second } = await call(client, 'environment_fork', { project: 'shop', environment: first });
    await run(client, second as string, `rm one-${revision}; echo two > two-${revision}`);
    expect(await call(client, 'environment_diff', { project: 'shop', environment: second })).toMatchObject({
      changes: [{ path: `two-${revision}`, status: 'A', insertions: 1, gates: [] }],
      diff: expect.stringContaining('+two'),
    });
    expect(existsSync(inShop(`two-${revision}`))).toBe(false);
    const merge = { project: 'shop', environments: [first, second] };
    expect(await call(client, 'environment_merge', { ...merge, dry_run: true })).toMatchObject({ applied: false });
    expect(asked).toEqual([]);
    expect(await call(client, 'environment_merge', merge)).toMatchObject({ applied: true, blocked: null });
    expect(asked).toEqual([expect.stringMatching(`2 changes of ${first}, ${second} to shop`)]);
    expect(asked[0]).toContain(`added "one-${revision}"`);
    expect(readFileSync(inShop(`two-${revision}`), 'utf8')).toBe('two\n');
    for (const environment of [first, second])
      await call(client, 'environment_remove', { project: 'shop', environment });
  });

  it('applies a gated change only after the person ticked it', async () => {
    let answer: ElicitResult = { action: 'decline' };
    const client = await connect({ modern, answer: () => answer });
    const script = `tool-${revision}.sh`;
    const environment = await made(client, `g-${revision}`, `echo '#!/bin/sh' > ${script}; chmod +x ${script}`);
    const apply = () => call(client, 'environment_apply', { project: 'shop', environment });
    await expect(apply()).rejects.toThrow(/^denied: the person declined/);
    answer = { action: 'cancel' };
    await expect(apply()).rejects.toThrow(/^denied: the person did not answer/);
    answer = { action: 'accept', content: { allow: false } };
    await expect(apply()).rejects.toThrow(/^denied: /);
    expect(existsSync(inShop(script))).toBe(false);
    answer = { action: 'accept', content: { allow: true } };
    expect(await apply()).toMatchObject({ applied: true });
    expect(existsSync(inShop(script))).toBe(true);
  });

  it.each([
    ['a new file', 'touch late', 'added "late"'],
    ['other content of the same length', 'printf two > early', 'added "early"'],
  ])('asks again after %s during the question', async (_, script, shown) => {
    const asked: string[] = [];
    const answer = async (message: string): Promise<ElicitResult> => {
      asked.push(message);
      if (asked.length === 1) await carrel.ok('exec', environment, '--', 'sh', '-c', `cd asked && ${script}`);
      return { action: asked.length === 1 ? 'accept' : 'decline', content: {} };
    };
    const client = await connect({ modern, answer });
    const environment = await made(
      client,
      `q-${script.split(' ')[0]}-${revision}`,
      'mkdir asked; printf one > asked/early',
    );
    await expect(call(client, 'environment_apply', { project: 'shop', environment })).rejects.toThrow(/declined/);
    expect(asked).toHaveLength(2);
    expect(asked[1]).toContain(shown.replace('"', '"asked/'));
    expect(existsSync(inShop('asked'))).toBe(false);
  });
});

describe.each([
  ['HTTP', false],
  ['HTTP', true],
  ['WebSocket', false],
  ['WebSocket', true],
] as const)('with a token over %s, newest revision: %s', (kind, modern) => {
  it('asks the person before an apply, reaches no other project, and is named in the audit log', async () => {
    const { mcp: url } = await carrel.json<{ mcp: string }>('status');
    const token = (await carrel.ok('hub', 'token', '--project', 'shop', '--tools', 'environment')).trim();
    const { id } = (await carrel.json<{ id: string }[]>('hub', 'token', 'ls')).at(-1)!;
    const asked: string[] = [];
    const answer = (message: string): ElicitResult => {
      asked.push(message);
      return { action: asked.length === 1 ? 'decline' : 'accept', content: {} };
    };
    const client = await connect({ modern, answer, port: { kind, url, token } });
    const file = `${kind}-${modern}`;
    const environment = await made(client, file.toLowerCase(), `echo x > ${file}`);
    const apply = () => call(client, 'environment_apply', { project: 'shop', environment });
    await expect(apply()).rejects.toThrow(/declined/);
    expect(existsSync(inShop(file))).toBe(false);
    expect(await apply()).toMatchObject({ applied: true });
    expect(existsSync(inShop(file))).toBe(true);
    await expect(call(client, 'environment_list', { project: 'store' })).rejects.toThrow(/no project store/);
    await expect(client.callTool({ name: 'swarm_status', arguments: { project: 'shop' } })).rejects.toThrow();
    expect(await carrel.ok('audit')).toMatch(new RegExp(`sandbox.apply ${environment} ok .*token=${id}`));
  });
});

it('the hub offers the tools only if their groups are named', async () => {
  const names = async (args: string[]) => (await (await connect({ args })).listTools()).tools.map(({ name }) => name);
  expect((await names([])).filter((name) => /^(environment|swarm)_/.test(name))).toEqual([]);
  expect(await names(['--tools', 'swarm'])).toEqual(['swarm_run', 'swarm_status', 'swarm_stop']);
  expect(await names(['--tools', 'environment'])).toHaveLength(9);
});

it('a client that cannot ask the person applies only with the group apply, and never gated changes', async () => {
  const client = await connect();
  const environment = await made(client, 'scope', 'echo x > plain');
  const input = { project: 'shop', environment };
  await expect(call(client, 'environment_apply', input)).rejects.toThrow(
    /^denied: .*\nhint: .*carrel apply shop-scope/,
  );
  expect(existsSync(inShop('plain'))).toBe(false);
  const granted = await connect({ args: withApply });
  expect(await call(granted, 'environment_apply', input)).toMatchObject({ applied: true });
  await run(client, environment, 'echo "{}" > package.json; echo y > more');
  await run(client, environment, `printf '{"scripts":{"postinstall":"x"}}' > package.json`);
  expect(await call(granted, 'environment_apply', input)).toMatchObject({ applied: false, blocked: 'gated' });
  expect(existsSync(inShop('more'))).toBe(false);
  const paths = ['/workspaces/shop/more'];
  expect(await call(granted, 'environment_apply', { ...input, paths })).toMatchObject({ applied: true });
  expect([existsSync(inShop('more')), existsSync(inShop('package.json'))]).toEqual([true, false]);
});

it('a client reaches no environment of another project, no spoke and no sandbox that the user created', async () => {
  const owner = await connect();
  await call(owner, 'environment_create', { project: 'store', name: 'other' });
  await call(owner, 'health_check', { project: 'shop' });
  await carrel.ok('create', shop, '--name', 'mine');
  const client = await connect({ args: ['--project', 'shop', ...groups], answer: accepts });
  const own = await made(client, 'own');
  const foreign = ['store-other', 'mine', 'hub-shop'];
  const inputs: Record<string, object> = {
    environment_run: { command: ['true'] },
    environment_diff: {},
    environment_snapshot: {},
    environment_fork: {},
    environment_apply: {},
    environment_remove: { force: true },
  };
  for (const [tool, input] of Object.entries(inputs))
    for (const environment of foreign)
      await expect(call(client, tool, { project: 'shop', environment, ...input })).rejects.toThrow(
        /^not_found: project shop has no environment/,
      );
  for (const other of foreign)
    await expect(call(client, 'environment_merge', { project: 'shop', environments: [own, other] })).rejects.toThrow(
      /^not_found: /,
    );
  const { environments } = await call(client, 'environment_list', { project: 'shop', limit: 1000 });
  expect((environments as { environment: string }[]).map((one) => one.environment)).not.toContain('mine');
  const { tools } = await client.listTools();
  for (const { name } of tools.filter((tool) => /^(environment|swarm)_/.test(tool.name))) {
    const input = { project: 'store', environment: 'store-other', environments: ['store-other', own], ...inputs[name] };
    const fields = Object.keys(tools.find((tool) => tool.name === name)!.inputSchema.properties!);
    const known = Object.fromEntries(Object.entries(input).filter(([field]) => fields.includes(field)));
    await expect(call(client, name, known), name).rejects.toThrow(/^not_found: no project store/);
  }
  expect((await carrel.list()).map(({ name }) => name)).toEqual(expect.arrayContaining(['store-other', 'mine']));
});

it('a cancelled request cancels its command, and an environment gets no host that the user does not allow', async () => {
  const client = await connect();
  const environment = await made(client, 'cancel');
  const abort = new AbortController();
  const command = ['sh', '-c', 'echo $$ > /tmp/pid; echo started; exec sleep 1000'];
  const running = client.callTool(
    { name: 'environment_run', arguments: { project: 'shop', environment, command } },
    { signal: abort.signal, onprogress: () => abort.abort() },
  );
  await expect(running).rejects.toThrow();
  const gone = 'while kill -0 $(cat /tmp/pid) 2>/dev/null; do sleep 0.01; done; echo gone';
  expect(await run(client, environment, gone)).toMatchObject({ stdout: 'gone\n' });
  const wide = { project: 'shop', network: ['example.com'] };
  await expect(call(client, 'environment_create', wide)).rejects.toThrow(/^denied: example.com/);
  await expect(call(client, 'environment_create', { project: 'shop', name: 'A' })).rejects.toThrow(/^invalid: /);
});

it('the hub pages lists, keeps changes that were not applied, and logs each act as the command line does', async () => {
  const client = await connect();
  const environment = await made(client, 'page', 'touch p1 p2 p3');
  const at = { project: 'shop', environment };
  const first = await call(client, 'environment_diff', { ...at, limit: 2 });
  expect(first).toMatchObject({ changes: [{ path: 'p1' }, { path: 'p2' }], next_cursor: 'p2' });
  const rest = await call(client, 'environment_diff', { ...at, limit: 2, cursor: 'p2' });
  expect(rest).toMatchObject({ changes: [{ path: 'p3' }], diff: '' });
  expect(rest.next_cursor).toBeUndefined();
  const listed = await call(client, 'environment_list', { project: 'shop', limit: 1 });
  expect(listed).toMatchObject({ environments: [{}], next_cursor: expect.any(String) });
  expect(await call(client, 'environment_snapshot', { ...at, label: 'l' })).toMatchObject({ snapshot: '0001' });
  for (const dry_run of [true, false])
    await expect(call(client, 'environment_remove', { ...at, dry_run })).rejects.toThrow(/^conflict: .*not applied/);
  expect(await call(client, 'environment_remove', { ...at, force: true, dry_run: true })).toMatchObject({
    dry_run: true,
  });
  expect((await carrel.show(environment)).state).toBe('running');
  await call(client, 'environment_remove', { ...at, force: true });
  const log = await carrel.ok('audit');
  for (const verb of ['create', 'exec', 'snapshot', 'remove']) expect(log).toMatch(`sandbox.${verb} shop-page ok`);
});

it('the swarm tools run agents on task files, show their state and stop them', async () => {
  const tasks = new SwarmProject(carrel, 'tasks', { quick: lines('quick', 1), long: ['sh sleep 1000'] });
  await carrel.ok('project', 'add', tasks.path, '--name', 'tasks');
  const client = await connect();
  await expect(call(client, 'swarm_status', { project: 'tasks' })).rejects.toThrow(/^not_found: .*has no swarm/);
  const outside = { project: 'tasks', files: ['../shop/x-tasks.json'] };
  await expect(call(client, 'swarm_run', outside)).rejects.toThrow(/^invalid: /);
  expect(await call(client, 'swarm_run', { project: 'tasks', agent: 'scripted' })).toEqual({
    started: expect.arrayContaining(['quick', 'long']),
  });
  const state = async () => {
    const { containers } = await call(client, 'swarm_status', { project: 'tasks' });
    return Object.fromEntries((containers as { name: string; status: string }[]).map((one) => [one.name, one.status]));
  };
  await until(async () => (await state()).quick === 'completed', 'the quick story to be done');
  expect(await call(client, 'swarm_status', { project: 'tasks', limit: 1 })).toMatchObject({
    containers: [{ stories: { total: 1 } }],
    next_cursor: expect.any(String),
  });
  await call(client, 'swarm_stop', { project: 'tasks', names: ['long'] });
  expect(await state()).toEqual({ quick: 'completed', long: 'stopped' });
  expect(await carrel.ok('audit')).toMatch(/swarm\.run .*ok[\s\S]*swarm\.stop long ok/);
});
