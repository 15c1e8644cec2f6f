/**
 * The memory through the real CLI, carrel-memory in sandboxes with the official MCP client, and the hub; attacks of
 * sandboxes and users.
 */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FoundView, MemoryStatsView, NoteView } from '../../src/noun/memory/api.ts';
import { callTool, connectHub } from '../harness/hub-client.ts';
import { Installation, type Outcome, until } from '../harness/installation.ts';
import { runEnv } from '../harness/run.ts';

let carrel: Installation;
let project: string;
let asBob: (...args: string[]) => Promise<Outcome>;
const clients: Client[] = [];

beforeAll(async () => {
  carrel = new Installation();
  const socket = join(carrel.folder('shared'), 'carrel.sock');
  writeFileSync(join(carrel.home, 'config.yaml'), `share: {socket: ${socket}}\n`);
  project = carrel.folder('shop');
  const token = (await carrel.ok('user', 'add', 'bob')).trim();
  const tokenFile = join(carrel.folder('bob'), 'token');
  writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 });
  const env = { CARREL_SOCKET: socket, CARREL_TOKEN_FILE: tokenFile };
  asBob = (...args) => carrel.run(args, { env });
  await carrel.ok('create', '--name', 'builder', '--memory-scope', 'project', '--memory-scope', 'sandbox', project);
  await carrel.ok('create', '--name', 'reviewer', '--memory-scope', 'project', project);
  await carrel.ok('create', '--name', 'reader', '--memory-scope', 'project:ro', project);
  await carrel.ok('create', '--name', 'stranger', '--memory-scope', 'user');
  await carrel.ok('create', '--name', 'bare', project);
}, 120_000);
afterAll(async () => {
  for (const client of clients) await client.close().catch(() => {});
  await carrel.dispose();
}, 60_000);

const search = (...args: string[]) => carrel.json<FoundView[]>('memory', 'search', ...args);
const texts = (found: readonly FoundView[]) => found.map(({ note }) => note.text);

/** An agent's MCP client, whose server is carrel-memory in the sandbox. */
async function agentIn(sandbox: string): Promise<Client> {
  const client = new Client({ name: 'agent', version: '1' });
  const env = { PATH: process.env.PATH!, HOME: carrel.home, CARREL_HOME: carrel.home, ...runEnv() };
  const command = [resolve('bin/carrel'), 'exec', '-i', sandbox, '--', '/opt/carrel/bin/carrel-memory'];
  await client.connect(new StdioClientTransport({ command: process.execPath, args: command, env }));
  clients.push(client);
  return client;
}

interface Shown {
  readonly id: string;
  readonly text: string;
  readonly by: string;
  readonly foreign?: boolean;
}
const found = async (client: Client, query: string, rest: object = {}) =>
  (await callTool(client, 'memory_search', { query, ...rest })).notes as Shown[];

it('M3, M5, M7: a note of one sandbox is found in another and at the CLI, with its author', async () => {
  const builder = await agentIn('builder');
  const { tools } = await builder.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['memory_save', 'memory_search', 'memory_get', 'memory_forget']);
  const text = 'The test database listens on port 5433.';
  const saved = await callTool(builder, 'memory_save', { text, metadata: { topic: 'tests' } });
  const reviewer = await agentIn('reviewer');
  expect(await found(reviewer, 'which port has the database?', { where: { topic: 'tests' } })).toMatchObject([
    { id: saved.id, text, by: 'sandbox builder', foreign: true },
  ]);
  expect((await found(builder, 'database'))[0]?.foreign).toBeUndefined();
  const [first] = await search('database port', '--project', project);
  expect(first?.note).toMatchObject({
    ...{ id: saved.id, scope: `project:${project}`, via: 'sandbox', foreign: true },
    by: { kind: 'sandbox', name: 'builder', agent: null, session: null },
  });
  const { stdout } = await carrel.run(['memory', 'search', 'database']);
  expect(stdout).toContain('sandbox builder');
  expect(stdout).toContain(`  ${text}`);
});

it.each(['by', 'via', 'at', 'id', 'user', 'sandbox', 'owner'])('M5: a save that names %s is refused', async (field) => {
  const builder = await agentIn('builder');
  await expect(callTool(builder, 'memory_save', { text: 'forged', [field]: 'root' })).rejects.toThrow('invalid');
});

it('M3: a sandbox reaches no scope that it was not granted, by name, id or guess', async () => {
  const builder = await agentIn('builder');
  const stranger = await agentIn('stranger');
  const mine = await callTool(builder, 'memory_save', { text: 'a private thought', scope: 'sandbox' });
  const users = await carrel.json<NoteView>('memory', 'save', 'a thought of the user');
  for (const [client, name] of [
    [await agentIn('reviewer'), 'reviewer'],
    [stranger, 'stranger'],
  ] as const) {
    const seen = (await found(client, 'private thought')).map(({ text }) => text);
    expect([name, seen.includes('a private thought')]).toEqual([name, false]);
    await expect(callTool(client, 'memory_get', { id: mine.id })).rejects.toThrow('not_found');
    await expect(callTool(client, 'memory_forget', { id: mine.id })).rejects.toThrow('not_found');
  }
  await expect(callTool(builder, 'memory_get', { id: users.id })).rejects.toThrow('not_found');
  await expect(found(builder, 'thought', { scope: 'user' })).rejects.toThrow('denied');
  await expect(callTool(builder, 'memory_save', { text: 'x', scope: 'user' })).rejects.toThrow('denied');
  for (const scope of ['project:/etc', 'sandbox:1', '*', '', '../user'])
    await expect(found(builder, 'thought', { scope })).rejects.toThrow('invalid');
  expect((await found(stranger, 'thought')).map(({ text }) => text)).toEqual(['a thought of the user']);
});

it('M3: the port identifies the sandbox, whatever a request claims, and is closed without a grant', async () => {
  const forged = [
    ...['-H', 'x-carrel-caller: {"id":"x","name":"stranger","user":"root"}'],
    ...['-H', 'X-Carrel-Caller: {"id":"y"}', '-d', '{"text":"by curl"}'],
  ];
  const url = 'http://127.0.0.1:17009/tools/memory_save';
  const curl = (name: string, ...args: string[]) => carrel.run(['exec', name, '--', 'curl', '-s', ...args]);
  const answer = JSON.parse((await curl('builder', ...forged, url)).stdout) as Shown;
  expect(answer).toMatchObject({ by: 'sandbox builder', text: 'by curl' });
  expect((await curl('bare', ...forged, url)).exitCode).not.toBe(0);
  for (const path of ['/', '/v1/sandboxes', '/tools/../tools', '/tools/memory_save/x', '/tools/%6demory_save']) {
    const { stdout } = await curl('builder', '--path-as-is', '-d', '{}', `http://127.0.0.1:17009${path}`);
    expect([path, JSON.parse(stdout).code]).toEqual([path, 'not_found']);
  }
});

it('M4, M6: a reader saves and forgets nothing, and a writer forgets only its own notes', async () => {
  const reader = await agentIn('reader');
  const builder = await agentIn('builder');
  const note = await callTool(builder, 'memory_save', { text: 'only mine to forget' });
  expect((await reader.listTools()).tools.map(({ name }) => name)).toEqual(['memory_search', 'memory_get']);
  expect(await callTool(reader, 'memory_get', { id: note.id })).toMatchObject({ text: 'only mine to forget' });
  await expect(callTool(reader, 'memory_save', { text: 'x' })).rejects.toThrow('denied');
  await expect(callTool(reader, 'memory_forget', { id: note.id })).rejects.toThrow('denied');
  await expect(callTool(await agentIn('reviewer'), 'memory_forget', { id: note.id })).rejects.toThrow('denied');
  expect(await callTool(builder, 'memory_forget', { id: note.id })).toEqual({ id: note.id });
  await expect(callTool(reader, 'memory_get', { id: note.id })).rejects.toThrow('not_found');
});

it('M1: another user has a memory of its own', async () => {
  const { id } = await carrel.json<NoteView>('memory', 'save', 'the plan of ann');
  const bobs = await asBob('--json', 'memory', 'save', 'the plan of bob');
  expect(bobs.exitCode).toBe(0);
  expect(texts(JSON.parse((await asBob('--json', 'memory', 'search', 'plan')).stdout))).toEqual(['the plan of bob']);
  expect((await asBob('memory', 'get', id)).exitCode).toBe(5);
  expect((await asBob('memory', 'rm', id)).exitCode).toBe(5);
  expect((await asBob('memory', 'ls', '--sandbox', 'builder')).exitCode).toBe(5);
  const stats = JSON.parse((await asBob('--json', 'memory', 'stats')).stdout) as MemoryStatsView;
  expect(stats.notes).toBe(1);
  expect(JSON.parse((await asBob('--json', 'memory', 'ls', '--project', project)).stdout)).toEqual([]);
  expect(texts(await search('plan of bob'))).not.toContain('the plan of bob');
});

it('the hub has the tools, and a note that it saves for a project is found in a sandbox on that project', async () => {
  await carrel.ok('project', 'add', project, '--name', 'shop');
  const hub = await connectHub(carrel, { args: ['--tools', 'memory'] });
  clients.push(hub);
  const { id } = await callTool(hub, 'memory_save', { text: 'a hint from the hub', project: 'shop' });
  expect(await found(await agentIn('reviewer'), 'hint hub')).toMatchObject([{ id, text: 'a hint from the hub' }]);
  await expect(callTool(hub, 'memory_save', { text: 'x', project: 'other' })).rejects.toThrow('not_found');
  expect(await callTool(hub, 'memory_forget', { id })).toEqual({ id });
});

it('M8, M9: an agent continues to save while the daemon is killed, and each acknowledged note exists once', async () => {
  const lines =
    'for i in $(seq 40); do printf \'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"memory_save",';
  const rest = '"arguments":{"collection":"killed","text":"note %d"}}}\\n\' $i $i; sleep 0.05; done';
  const script = `(${lines}${rest}) | /opt/carrel/bin/carrel-memory > /tmp/acknowledged 2>&1; exec sleep 600`;
  await carrel.ok('create', '--name', 'saver', '--memory-scope', 'project', project, '--', 'sh', '-c', script);
  const acknowledged = async () =>
    (await carrel.ok('exec', 'saver', '--', 'sh', '-c', 'cat /tmp/acknowledged || true')).split('\n').slice(0, -1);
  await until(async () => (await acknowledged()).length > 2, 'the first saves');
  await carrel.killDaemon();
  await carrel.list();
  await until(async () => (await acknowledged()).length === 40, 'all saves');
  const answers = (await acknowledged()).map((line) => JSON.parse(line).result.structuredContent as Shown);
  const notes = await carrel.json<NoteView[]>('memory', 'ls', '--collection', 'killed', '--limit', '100');
  expect(notes.map(({ id }) => id).sort()).toEqual(answers.map(({ id }) => id).sort());
  expect(new Set(notes.map(({ text }) => text)).size).toBe(40);
});

it('M7: an export is imported once, and marked as imported', async () => {
  await carrel.ok('memory', 'save', 'worth keeping', '--collection', 'kept', '--meta', 'n=3', '--meta', 'ok=true');
  const file = join(carrel.folder('export'), 'notes.jsonl');
  writeFileSync(file, await carrel.ok('memory', 'export', '--collection', 'kept'));
  await carrel.ok('memory', 'rm', '--collection', 'kept');
  for (let time = 0; time < 2; time++)
    expect(await carrel.json('memory', 'import', file)).toEqual({ saved: 1, refused: [] });
  const [note, ...more] = await carrel.json<NoteView[]>('memory', 'ls', '--collection', 'kept');
  expect(more).toEqual([]);
  expect(note).toMatchObject({ text: 'worth keeping', metadata: { n: 3, ok: true }, via: 'import', foreign: true });
  expect(note?.origin?.by).toMatch(/^person /);
});

it('M15: the notes of a sandbox go with it, and those of its project stay', async () => {
  await carrel.ok('create', '--name', 'gone', '--memory-scope', 'sandbox', '--memory-scope', 'project', project);
  const client = await agentIn('gone');
  await callTool(client, 'memory_save', { text: 'short thought', scope: 'sandbox' });
  await callTool(client, 'memory_save', { text: 'lasting thought', scope: 'project' });
  await carrel.ok('rm', '--force', 'gone');
  const seen = texts(await search('thought', '--limit', '100'));
  expect(seen).toContain('lasting thought');
  expect(seen).not.toContain('short thought');
});

it.each([
  [['save'], 2],
  [['save', 'x', '--project', '/', '--sandbox', 'builder'], 2],
  [['save', 'x', '--meta', 'novalue'], 2],
  [['save', 'x', '--collection', 'a b'], 2],
  [['save', 'x', '--sandbox', 'nothere'], 5],
  [['get', 'x'], 2],
  [['get', '01JD8Q4Z7W3V5T1N9R2B6C8D0E'], 5],
  [['rm'], 2],
  [['rm', '--all', '01JD8Q4Z7W3V5T1N9R2B6C8D0E'], 2],
  [['rm', '--chroma'], 5],
  [['search', 'x', '--limit', '0'], 2],
])('carrel memory %j ends with %i', async (args, code) => {
  expect((await carrel.run(['memory', ...args])).exitCode).toBe(code);
});

it('a scope that does not exist, and that of a project without one, are refused at create', async () => {
  expect((await carrel.run(['create', '--name', 'x', '--memory-scope', 'all'])).exitCode).toBe(2);
  expect((await carrel.run(['create', '--name', 'x', '--memory-scope', 'project'])).exitCode).toBe(2);
});
