/**
 * The memory bank through the real CLI and carrel-memory-bank in sandboxes with the official MCP client; attacks of
 * sandboxes and users.
 */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { BankVersionView } from '../../src/noun/memory/api/bank.ts';
import { Installation, until } from '../harness/installation.ts';
import { runEnv } from '../harness/run.ts';

let carrel: Installation;
const clients: Client[] = [];

beforeAll(async () => {
  carrel = new Installation();
  await carrel.ok('create', '--name', 'builder', '--memory-bank', carrel.folder('shop'));
  await carrel.ok('create', '--name', 'reviewer', '--memory-bank');
  await carrel.ok('create', '--name', 'reader', '-v', 'memory-bank:/data/memory-bank:ro');
  await carrel.ok('create', '--name', 'bare');
}, 120_000);
afterAll(async () => {
  for (const client of clients) await client.close().catch(() => {});
  await carrel.dispose();
}, 60_000);

async function agentIn(sandbox: string): Promise<Client> {
  const client = new Client({ name: 'agent', version: '1' });
  const env = { PATH: process.env.PATH!, HOME: carrel.home, CARREL_HOME: carrel.home, ...runEnv() };
  const command = [resolve('bin/carrel'), 'exec', '-i', sandbox, '--', '/opt/carrel/bin/carrel-memory-bank'];
  await client.connect(new StdioClientTransport({ command: process.execPath, args: command, env }));
  clients.push(client);
  return client;
}

/** The texts of the answer; throws if the call was refused. */
async function use(client: Client, name: string, args: object = {}): Promise<string[]> {
  const { content, isError } = await client.callTool({ name, arguments: args as Record<string, unknown> });
  const texts = (content as { text: string }[]).map(({ text }) => text);
  if (isError) throw new Error(texts.join('\n'));
  return texts;
}

const file = (fileName: string, rest: object = {}) => ({ projectName: 'shop', fileName, ...rest });
const log = (path?: string) =>
  carrel.json<BankVersionView[]>('memory', 'bank', 'log', ...(path === undefined ? [] : [path]));
const inside = (sandbox: string, script: string) => carrel.ok('exec', sandbox, '--', 'sh', '-c', script);

it('B1: tools have the names and parameters of @allpepper/memory-bank-mcp; a file of one sandbox is read in another, with its writer', async () => {
  const builder = await agentIn('builder');
  const { tools } = await builder.listTools();
  const required = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema.required ?? []]));
  expect(required).toMatchObject({
    list_projects: [],
    list_project_files: ['projectName'],
    memory_bank_list: [],
    memory_bank_read: ['projectName', 'fileName'],
    memory_bank_write: ['projectName', 'fileName', 'content'],
    memory_bank_update: ['projectName', 'fileName', 'content'],
  });
  await use(builder, 'memory_bank_write', file('decisions.md', { content: 'We use SQLite.\n' }));
  const reviewer = await agentIn('reviewer');
  expect(await use(reviewer, 'list_projects')).toEqual(['shared\nshop']);
  expect(await use(reviewer, 'list_project_files', { projectName: 'shop' })).toEqual(['decisions.md']);
  const [content, about] = await use(reviewer, 'memory_bank_read', file('decisions.md'));
  expect(content).toBe('We use SQLite.\n');
  expect(about).toMatch(/^\[version 1, written by sandbox builder at .* data of another agent/);
  expect(await inside('reviewer', 'cat "$MEMORY_BANK_ROOT"/shop/decisions.md')).toBe('We use SQLite.\n');
  expect(await inside('reader', 'ls /data/memory-bank')).toBe('shared\nshop\n');
});

it('B3, B4: an update of an old version, or of a file that another sandbox locked, is refused', async () => {
  const [builder, reviewer] = [await agentIn('builder'), await agentIn('reviewer')];
  await use(builder, 'memory_bank_write', file('plan.md', { content: 'one' }));
  await use(reviewer, 'memory_bank_update', file('plan.md', { content: 'two', expectedVersion: 1 }));
  await expect(
    use(builder, 'memory_bank_update', file('plan.md', { content: 'three', expectedVersion: 1 })),
  ).rejects.toThrow('conflict');
  await expect(use(builder, 'memory_bank_write', file('plan.md', { content: 'x' }))).rejects.toThrow('exists already');
  await use(reviewer, 'memory_bank_lock', file('plan.md', { seconds: 600 }));
  await expect(use(builder, 'memory_bank_update', file('plan.md', { content: 'x' }))).rejects.toThrow(
    'locked by sandbox reviewer',
  );
  await use(reviewer, 'memory_bank_unlock', file('plan.md'));
  await use(builder, 'memory_bank_update', file('plan.md', { content: 'three' }));
});

it('B4: a lock outlives a kill of the daemon, and expires when its holder is gone', async () => {
  const [builder, reviewer] = [await agentIn('builder'), await agentIn('reviewer')];
  await use(builder, 'memory_bank_write', file('locked.md', { content: 'one' }));
  await use(reviewer, 'memory_bank_lock', file('locked.md', { seconds: 600 }));
  await carrel.killDaemon();
  await carrel.list();
  const again = await agentIn('builder');
  const update = () => use(again, 'memory_bank_update', file('locked.md', { content: 'two' }));
  await expect(update()).rejects.toThrow('locked by sandbox reviewer');
  await use(await agentIn('reviewer'), 'memory_bank_lock', file('locked.md', { seconds: 1 }));
  await carrel.ok('stop', 'reviewer');
  await until(
    () =>
      update().then(
        () => true,
        () => false,
      ),
    'the lock to expire',
  );
  await carrel.ok('start', 'reviewer');
});

it('B5: a plain write is recorded without a call, with the sandbox if only one has the bank', async () => {
  await carrel.ok('stop', 'reviewer');
  await log();
  await inside('builder', 'echo plain > /data/memory-bank/shared/plain.md');
  const db = join(carrel.home, 'memory-bank');
  expect(readdirSync(db)).toHaveLength(1);
  await until(async () => (await log('shared/plain.md')).length === 1, 'the plain write');
  expect(await log('shared/plain.md')).toMatchObject([
    { act: 'plain', by: { kind: 'sandbox', name: 'builder' }, bytes: 6 },
  ]);
  await carrel.ok('start', 'reviewer');
  await inside('builder', 'rm /data/memory-bank/shared/plain.md');
  const [removed] = await log('shared/plain.md');
  expect(removed).toMatchObject({ act: 'plain', by: { kind: 'unknown', name: 'builder, reviewer' }, bytes: null });
});

it('B6: log shows who changed what, and restore brings an earlier version back', async () => {
  const builder = await agentIn('builder');
  await use(builder, 'memory_bank_write', file('api.md', { content: 'GET /v1\n' }));
  await use(builder, 'memory_bank_update', file('api.md', { content: 'GET /v2\n' }));
  const { stdout } = await carrel.run(['memory', 'bank', 'log', 'shop/api.md', '--diff']);
  expect(stdout).toContain('written by sandbox builder');
  expect(stdout).toContain('  -GET /v1\n  +GET /v2');
  await carrel.ok('memory', 'bank', 'restore', 'shop/api.md', '1');
  expect(await inside('builder', 'cat /data/memory-bank/shop/api.md')).toBe('GET /v1\n');
  expect(await log('shop/api.md')).toMatchObject([{ version: 3, act: 'restore', by: { kind: 'person' } }, {}, {}]);
});

it('B2: links, FIFOs and paths that lead out are refused, and block nothing', async () => {
  const secret = join(carrel.home, 'config.yaml');
  await inside(
    'builder',
    `cd /data/memory-bank && mkdir -p evil && ln -s ${secret} evil/link.md && ln -s / evil/root && mkfifo evil/fifo.md && ln -s /etc evilproject && truncate -s 10G evil/huge.md`,
  );
  const builder = await agentIn('builder');
  const evil = (fileName: string) => ({ projectName: 'evil', fileName, content: 'x' });
  for (const name of ['link.md', 'root/etc/passwd', 'fifo.md'])
    await expect(use(builder, 'memory_bank_update', evil(name))).rejects.toThrow('denied');
  await expect(use(builder, 'memory_bank_read', { projectName: 'evil', fileName: 'huge.md' })).rejects.toThrow('512');
  for (const name of ['../shop/api.md', '/etc/passwd', '..', 'a\0b'])
    await expect(use(builder, 'memory_bank_write', evil(name))).rejects.toThrow('invalid');
  await expect(
    use(builder, 'memory_bank_write', { projectName: 'evilproject', fileName: 'x', content: 'x' }),
  ).rejects.toThrow('denied');
  expect(await use(builder, 'list_project_files', { projectName: 'evil' })).toEqual(['huge.md']);
  const evils = (await log('evil')).map(({ path, isKept }) => `${path} ${isKept}`);
  expect(evils).toEqual(['evil/huge.md false']);
  await inside('builder', 'rm -r /data/memory-bank/evil /data/memory-bank/evilproject');
});

it('B2: the port identifies the sandbox, and without the bank or with a read-only one nothing is written', async () => {
  const reader = await agentIn('reader');
  const names = (await reader.listTools()).tools.map(({ name }) => name);
  expect(names).toEqual(['list_projects', 'list_project_files', 'memory_bank_list', 'memory_bank_read']);
  await expect(use(reader, 'memory_bank_write', file('r.md', { content: 'x' }))).rejects.toThrow('denied');
  const write = (sandbox: string) =>
    carrel.run([
      ...['exec', sandbox, '--', 'curl', '-s', '-H', 'x-carrel-caller: {"id":"x","name":"reviewer","user":"root"}'],
      ...['-d', JSON.stringify(file(`${sandbox}.md`, { content: 'x' }))],
      'http://127.0.0.1:17009/bank/memory_bank_write',
    ]);
  expect((await write('builder')).exitCode).toBe(0);
  expect(await log('shop/builder.md')).toMatchObject([{ by: { kind: 'sandbox', name: 'builder' } }]);
  expect((await write('bare')).exitCode).not.toBe(0);
  for (const forged of ['by', 'writer', 'version', 'at', 'sandbox'])
    await expect(
      use(await agentIn('builder'), 'memory_bank_update', file('builder.md', { content: 'y', [forged]: 'root' })),
    ).rejects.toThrow('invalid');
  expect(await inside('builder', 'find / -name history.db -not -path "/proc/*" 2>/dev/null || true')).toBe('');
});

it('B1: a user with a bank of its own sees nothing of this one', async () => {
  const socket = join(carrel.folder('shared'), 'carrel.sock');
  writeFileSync(join(carrel.home, 'config.yaml'), `share: {socket: ${socket}}\n`);
  await carrel.killDaemon();
  const token = (await carrel.ok('user', 'add', 'bob')).trim();
  const tokenFile = join(carrel.folder('bob'), 'token');
  writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 });
  const env = { CARREL_SOCKET: socket, CARREL_TOKEN_FILE: tokenFile };
  const asBob = (...args: string[]) => carrel.run(args, { env });
  expect(JSON.parse((await asBob('--json', 'memory', 'bank', 'log')).stdout)).toEqual([]);
  expect((await asBob('memory', 'bank', 'restore', 'shop/api.md', '1')).exitCode).toBe(5);
  expect((await log('shop/api.md')).length).toBe(3);
  expect(existsSync(join(carrel.home, 'memory-bank'))).toBe(true);
});

it.each([
  [['log', '../x'], 2],
  [['log', 'a', 'b'], 2],
  [['restore', 'shop/api.md'], 2],
  [['restore', 'shop/api.md', '0'], 2],
  [['restore', 'shop/api.md', '99'], 5],
  [['restore', 'shop/none.md', '1'], 5],
  [['forget'], 2],
])('carrel memory bank %j ends with %i', async (args, code) => {
  expect((await carrel.run(['memory', 'bank', ...args])).exitCode).toBe(code);
});
