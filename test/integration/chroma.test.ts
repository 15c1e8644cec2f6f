// @needs root
/**
 * The real Chroma server with its broker: acknowledged writes survive kills and a full disk, and damaged files are set
 * aside.
 */
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import type { ChromaStatus } from '../../src/extra/chroma/chroma.ts';
import { ChromaProcess } from '../../src/extra/chroma/chroma-process.ts';
import { openSqlite } from '../../src/lib/data/sqlite.ts';
import { detachMount, mount } from '../../src/lib/sys/sys-mount.ts';
import { chromaProgram } from '../../src/noun/memory/model/package.ts';
import { soon } from '../fixtures/soon.ts';
import { ChromaBench, childrenOf, chromaClients, commandOf, freePort } from '../harness/chroma.ts';

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

const base = '/api/v2/tenants/t-t/databases/d-d';

async function openBench(data?: string): Promise<ChromaBench> {
  const bench = new ChromaBench(undefined, data);
  endings.push(() => bench.dispose());
  await bench.start();
  return bench;
}

async function createCollection(bench: ChromaBench, name: string): Promise<string> {
  const { status, body } = await bench.send('ann1', `${base}/collections`, { body: { name, get_or_create: true } });
  expect(status).toBe(200);
  return body.id as string;
}

const record = (id: string, text = id) => ({ ids: [id], embeddings: [[1, id.length, 3]], documents: [text] });
const upsert = (bench: ChromaBench, collection: string, id: string, text?: string) =>
  bench.send('ann1', `${base}/collections/${collection}/upsert`, { body: record(id, text) });

async function idsIn(bench: ChromaBench, collection: string): Promise<Set<string>> {
  const body = { include: [], limit: 100_000 };
  const answer = await bench.send('ann1', `${base}/collections/${collection}/get`, { body });
  return new Set(answer.body.ids as string[]);
}

it('50 writers lose no acknowledged write while the server and the broker are killed', async () => {
  const bench = await openBench();
  const collection = await createCollection(bench, 'written');
  const acknowledged = new Set<string>();
  let isOver = false;
  const writers = Array.from({ length: 50 }, async (_, writer) => {
    for (let n = 0; !isOver; n += 1) {
      const id = `w${writer}-${n}`;
      const answer = await upsert(bench, collection, id).catch(() => null);
      if (answer?.status === 200) acknowledged.add(id);
      else await pause(20);
    }
  });
  for (const victim of ['server', 'broker', 'server'] as const) {
    const before = acknowledged.size;
    await soon(() => expect(acknowledged.size).toBeGreaterThan(before + 50));
    const killed = bench.pids();
    process.kill(killed[victim], 'SIGKILL');
    // The server ends with its broker.
    await soon(() => expect(bench.pids().server).not.toBe(killed.server));
    await bench.ready();
  }
  const before = acknowledged.size;
  await soon(() => expect(acknowledged.size).toBeGreaterThan(before + 50));
  isOver = true;
  await Promise.all(writers);
  const found = await idsIn(bench, collection);
  expect([...acknowledged].filter((id) => !found.has(id))).toEqual([]);
}, 90_000);

/** The states of all threads, since a signal does not stop all of them at once. */
function statesOf(pid: number): string[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').split(') ')[1]![0]!);
}

it('requests to a server that hangs fail with the reason, and another server takes its place', async () => {
  const data = mkdtempSync(join(tmpdir(), 'carrel-chroma-hung-'));
  const port = await freePort();
  const reasons: (string | null)[] = [];
  const command = { program: join(chromaClients, chromaProgram), data, port };
  const report = ({ state, reason }: ChromaStatus) => void (state === 'failed' && reasons.push(reason));
  const beat = { everyMs: 100, answerMs: 1000, misses: 3 };
  const server = new ChromaProcess({ ...command, report, emptied: () => {} }, { beat });
  endings.push(async () => {
    await server.dispose();
    rmSync(data, { recursive: true });
  });
  const serverPid = () => childrenOf(process.pid).find((pid) => commandOf(pid).includes(`--port ${port}`))!;
  server.start();
  const upstream = await server.ready();
  const hung = serverPid();
  // The kernel still accepts connections for it.
  process.kill(hung, 'SIGSTOP');
  await soon(() => expect(new Set(statesOf(hung))).toEqual(new Set(['T'])));
  await expect(upstream.version()).rejects.toMatchObject({
    ...{ code: 'unavailable', message: expect.stringContaining('did not answer') },
  });
  await soon(() => expect(reasons).toContain('it does not answer any more'));
  await server.ready();
  expect(serverPid()).not.toBe(hung);
  expect(await upstream.version()).toBe('1.0.0');
}, 60_000);

it('no other process of the machine reaches the server', async () => {
  const bench = await openBench();
  const { server, broker } = bench.pids();
  const network = (pid: number | 'self') => readlinkSync(`/proc/${pid}/ns/net`);
  expect(network(server)).toBe(network(broker));
  expect(network(server)).not.toBe(network('self'));
});

it('a request waits while the files are used by a backup, and is answered after it', async () => {
  const bench = await openBench();
  const collection = await createCollection(bench, 'rested');
  await upsert(bench, collection, 'first');
  const { server } = bench.pids();
  let waiting: Promise<unknown> = Promise.resolve();
  await bench.broker.whileAtRest(async () => {
    expect(() => process.kill(server, 0)).toThrow('ESRCH');
    expect(bench.broker.status().state).toBe('resting');
    waiting = upsert(bench, collection, 'second');
  });
  expect(await waiting).toMatchObject({ status: 200 });
  expect([...(await idsIn(bench, collection))].sort()).toEqual(['first', 'second']);
});

it('a full disk refuses writes, keeps acknowledged ones, and takes writes again when there is space', async () => {
  const disk = mkdtempSync(join(tmpdir(), 'carrel-chroma-disk-'));
  mount('carrel-test', disk, 'tmpfs', 0, 'size=6m,mode=755');
  endings.push(() => {
    detachMount(disk);
    rmSync(disk, { recursive: true });
  });
  mkdirSync(join(disk, 'data'));
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(2 * 1024 ** 2));
  const bench = await openBench(join(disk, 'data'));
  const collection = await createCollection(bench, 'filled');
  const acknowledged: string[] = [];
  let refusal = 0;
  for (let n = 0; refusal === 0 && n < 500; n += 1) {
    const { status } = await upsert(bench, collection, `n${n}`, 'x'.repeat(30_000));
    if (status === 200) acknowledged.push(`n${n}`);
    else refusal = status;
  }
  expect(refusal).toBeGreaterThanOrEqual(500);
  expect(acknowledged.length).toBeGreaterThan(5);
  rmSync(join(disk, 'ballast'));
  await soon(async () => expect((await upsert(bench, collection, 'after')).status).toBe(200));
  const found = await idsIn(bench, collection);
  expect([...acknowledged, 'after'].filter((id) => !found.has(id))).toEqual([]);
}, 60_000);

it('damaged files are set aside, and the server begins with new ones', async () => {
  const bench = await openBench();
  await upsert(bench, await createCollection(bench, 'damaged'), 'x');
  await bench.broker.whileAtRest(async () => {
    const path = join(bench.data, 'chroma.sqlite3');
    const database = openSqlite(path);
    expect(database.pragma('journal_mode = delete')).toEqual([{ journal_mode: 'delete' }]);
    database.close();
    const file = openSync(path, 'r+');
    for (const page of [3, 4, 5, 6]) writeSync(file, Buffer.alloc(4096, 0xee), 0, 4096, page * 4096);
    closeSync(file);
  });
  await bench.ready();
  const { setAside } = bench.broker.status();
  expect(setAside).toEqual([expect.stringContaining(join(bench.data, 'damaged-'))]);
  expect(readdirSync(setAside[0]!)).toContain('chroma.sqlite3');
  const collection = await createCollection(bench, 'damaged');
  expect((await upsert(bench, collection, 'new')).status).toBe(200);
  expect([...(await idsIn(bench, collection))]).toEqual(['new']);
});
