import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { type AddressInfo, connect, createServer, type Server as NetServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { soon } from '../../../../test/fixtures/soon.ts';
import { Fault } from '../../../model/fault.ts';
import { AgentApi } from '../agent-api.ts';
import { FolderCopies } from '../folder-copies.ts';
import { FakeSessions } from '../inside/fake.ts';
import { serveSessions } from '../inside/http/http.ts';
import { sessionLimits } from '../model/session.ts';
import type { ApiSettings } from '../model/settings.ts';
import { LiveSandbox } from './live-sandbox.ts';

const token = 'secret-token';
const settings: ApiSettings = {
  tokens: [createHash('sha256').update(token).digest('hex')],
  ...{ agents: {}, defaultAgent: 'demo', mcpServers: [], sandbox: 'box', idleAgentSeconds: 1 },
};

let folder = '';
let inside: FakeSessions;
let server: Server | null = null;
let port = 0;
let starts = 0;
let isRunning = true;
let hasPrograms = true;
let isCurrent = true;
let reports: Fault[] = [];
let live: LiveSandbox;
const hostile: NetServer[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-live-'));
  inside = new FakeSessions();
  [server, port, starts, isRunning, hasPrograms, reports] = [null, 0, 0, true, true, []];
  live = await opened();
});
afterEach(async () => {
  isRunning = false;
  await live.close();
  end();
  for (const one of hostile.splice(0)) one.close();
  rmSync(folder, { recursive: true });
});

async function opened(answerMs = 2000): Promise<LiveSandbox> {
  return new LiveSandbox({
    api: new AgentApi(dial, token, answerMs),
    copies: await FolderCopies.open(join(folder, 'sessions')),
    isRunning: () => isRunning,
    startProgram: async () => {
      if (hostile.length > 0) throw new Fault('unavailable', 'the port is taken');
      starts += 1;
      if (!hasPrograms) throw new Fault('conflict', 'started without the programs', { hint: 'Start it again.' });
      await begin();
    },
    isCurrent: () => isCurrent,
    turnEnded: () => {},
    report: (fault) => void reports.push(fault),
    nowMs: () => performance.now(),
  });
}

function dial(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.once('error', (cause) => reject(new Fault('unavailable', 'refused', { cause })));
  });
}

async function begin(): Promise<void> {
  server = await serveSessions(inside, settings, 0);
  port = (server.address() as AddressInfo).port;
}

/** Ends the program inside as if it was killed. */
function end(): void {
  server?.close();
  server?.closeAllConnections();
  server = null;
  port = 0;
}

async function create(): Promise<string> {
  const { sessionId } = (await live.call({ method: 'POST', path: '/sessions', body: {} })) as { sessionId: string };
  await live.caughtUp(sessionId);
  return sessionId;
}

async function copied(id: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of live.copies.find(id)!.lines()) lines.push(line);
  return lines;
}

const logged = (id: string) => inside.find(id).log.map(({ line }) => line);

async function prompt(id: string, text: string): Promise<void> {
  const body = { text, turnId: text };
  const { seq } = (await live.call({ method: 'POST', path: `/sessions/${id}/prompt`, body })) as { seq: number };
  await live.reached(id, seq);
}

test('S6 the program is started if none answers, and every event reaches the copy', async () => {
  const id = await create();
  await prompt(id, 'one');
  await soon(async () => expect(live.copies.find(id)!.fold.state).toBe('idle'));
  expect(await copied(id)).toEqual(logged(id));
  expect(starts).toBe(1);
});

test('S4 events that happened while the connection was lost are copied when it is back, each once', async () => {
  const id = await create();
  for (const text of ['one', 'two', 'three']) {
    end();
    await inside.find(id).prompt({ turnId: `${text}-alone`, content: [{ type: 'text', text }] });
    await soon(async () => expect(inside.find(id).fold.state).toBe('idle'));
    await prompt(id, text);
    await soon(async () => expect(await copied(id)).toEqual(logged(id)));
  }
});

test('S7 a log that is shorter than the copy, or differs from it, is replaced by the copy', async () => {
  const id = await create();
  await prompt(id, 'one');
  await soon(async () => expect(live.copies.find(id)!.fold.state).toBe('idle'));
  const before = await copied(id);
  end();
  inside = new FakeSessions();
  await prompt(id, 'two');
  expect((await copied(id)).slice(0, before.length)).toEqual(before);
  await soon(async () => expect(await copied(id)).toEqual(logged(id)));
  const kept = await copied(id);
  end();
  inside = new FakeSessions();
  const other = await inside.create({ sessionId: id, title: 'rewritten' });
  for (let made = 0; made < 20; made += 1) other.append('session.note', { text: 'x' });
  await prompt(id, 'three');
  expect((await copied(id)).slice(0, kept.length)).toEqual(kept);
  await soon(async () => expect(await copied(id)).toEqual(logged(id)));
});

test('a session that was removed while the sandbox was away is removed inside, and does not return', async () => {
  const [id, other] = [await create(), await create()];
  end();
  await live.copies.remove(id);
  await prompt(other, 'one');
  expect(inside.list().map((session) => session.id)).toEqual([other]);
  expect(live.copies.list().map((session) => session.id)).toEqual([other]);
  expect(live.copies.removed).toEqual([]);
});

test('a sandbox without the programs is refused at once, and tried again by the next request', async () => {
  hasPrograms = false;
  await expect(create()).rejects.toMatchObject({ code: 'conflict', hint: 'Start it again.' });
  expect([starts, live.link.isOpen, reports]).toEqual([1, false, []]);
  hasPrograms = true;
  await create();
});

test('a program that runs with outdated settings gets the current ones before requests are made', async () => {
  await create();
  isCurrent = false;
  end();
  await begin();
  await create();
  expect(starts).toBe(2);
  isCurrent = true;
});

/** A program that took the port. `events` writes the stream of events, `answers` gives the bodies of other answers. */
async function impostor(answers: (path: string) => string | null, events: (socket: Socket) => void): Promise<void> {
  const listening = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => {
      const path = /^\w+ (\S+)/.exec(bytes.toString())?.[1] ?? '';
      if (path.startsWith('/events')) return events(socket);
      const body = answers(path);
      if (body !== null) socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    });
  });
  hostile.push(listening);
  await once(listening.listen(0, '127.0.0.1'), 'listening');
  port = (listening.address() as AddressInfo).port;
}

const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n';
const usual = (path: string) => (path === '/sessions' ? '[]' : '{}');
const id = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const event = (seq: number, more: object = {}) =>
  JSON.stringify({
    ...{ seq, at: '2026-01-01T00:00:00.000Z', sessionId: id, type: 'session.created' },
    ...{ data: { agent: 'a', cwd: '/' }, ...more },
  });

test.each<[string, (socket: Socket) => void]>([
  ['a gap', (socket) => socket.write(`${head}event: ${id}\nid: 2\ndata: ${event(2)}\n\n`)],
  ['an id that is a path', (socket) => socket.write(`${head}event: ../../x\nid: 1\ndata: ${event(1)}\n\n`)],
  ['a line without an end', (socket) => socket.write(`${head}data: ${'x'.repeat(sessionLimits.eventBytes + 100)}`)],
  ['headers without an end', (socket) => socket.write(`HTTP/1.1 200 OK\r\n${'X-A: b\r\n'.repeat(10_000)}`)],
  ['what is no event', (socket) => socket.write(`${head}hello\n\n`)],
  ['what is no HTTP', (socket) => socket.write('SSH-2.0-OpenSSH_9.9\r\n')],
])('S8 %s ends the connection and is reported; nothing is copied', async (_what, events) => {
  await impostor(usual, events);
  live.link.open();
  await soon(async () => expect(reports.length).toBeGreaterThan(0));
  expect(reports[0]).toMatchObject({ code: 'unavailable' });
  expect(live.copies.list()).toEqual([]);
});

test.each<[string, (path: string) => string | null]>([
  ['never answers', () => null],
  ['answers with other JSON', () => '"hello"'],
  ['lists sessions that have no id', (path) => (path === '/sessions' ? '[{"sessionId":"x","seq":1}]' : '{}')],
  ['answers with gigabytes', () => 'x'.repeat(9 * 1024 ** 2)],
])('S8 a program in place of the agent API that %s is reported as a Fault', async (_what, answers) => {
  await live.close();
  live = await opened(200);
  await impostor(answers, () => {});
  await expect(live.link.connected()).rejects.toBeInstanceOf(Fault);
  expect(reports.length).toBeGreaterThan(0);
});

test('S8 a flood of events is slowed by back-pressure while the copy is written', async () => {
  let sent = 0;
  await impostor(usual, (socket) => {
    socket.write(`${head}event: ${id}\nid: 1\ndata: ${event(1)}\n\n`);
    const note = (seq: number) => event(seq, { type: 'session.note', data: { text: 'x'.repeat(9000) } });
    const flood = () => {
      for (let room = true; room && !socket.destroyed; sent += 1)
        room = socket.write(`event: ${id}\nid: ${sent + 2}\ndata: ${note(sent + 2)}\n\n`);
    };
    socket.on('drain', flood);
    flood();
  });
  live.link.open();
  for (const least of [300, 600, 900]) {
    await soon(async () => expect(live.copies.find(id)?.fold.seq).toBeGreaterThan(least));
    expect(sent - live.copies.find(id)!.fold.seq).toBeLessThan(1500);
  }
});
