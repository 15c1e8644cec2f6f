import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { comeAs, type ServedApp, serve, withToken } from '../../../../test/fixtures/served.ts';
import { soon } from '../../../../test/fixtures/soon.ts';
import type { NewSessionToken, SessionView } from '../api.ts';

let { app, shared, home, store, inside, call, addUser, dispose }: ServedApp = {} as ServedApp;
beforeEach(async () => {
  ({ app, shared, home, store, inside, call, addUser, dispose } = serve());
  await call('POST', '/v1/sandboxes', { name: 'box', command: ['sleep', '1000'] });
});
afterEach(() => dispose());

const at = '/v1/sandboxes/box/sessions';
const demo = { agent: 'demo' };
const text = 'hello';

async function ok<T>(method: string, path: string, body?: unknown, status = 200): Promise<T> {
  const answer = await call(method, path, body);
  expect([path, answer.status, answer.status === status ? null : answer.body]).toEqual([path, status, null]);
  return answer.body as T;
}

const idOf = () => store.find('sandbox', 'ann', 'box')!.id;

async function prompted(sessionId: string, more: object = {}): Promise<string> {
  const turn = await ok<{ turnId: string }>('POST', `${at}/${sessionId}/prompt`, { text, ...more }, 202);
  await soon(async () => expect(await ok<SessionView>('GET', `${at}/${sessionId}`)).toMatchObject({ state: 'idle' }));
  return turn.turnId;
}

test('a session is created, prompted, read, renamed, forked, closed and removed, and all of it is audited', async () => {
  const made = await ok<SessionView>('POST', at, { ...demo, title: 'First' });
  expect(made).toMatchObject({ sandbox: 'box', agent: 'demo', title: 'First', state: 'idle', seq: 2 });
  const { sessionId } = made;
  await prompted(sessionId);
  expect(await ok('GET', `${at}/${sessionId}/messages`)).toMatchObject([
    { role: 'user', parts: [{ text }] },
    { role: 'assistant', parts: [{ text }] },
  ]);
  expect(await ok('GET', `${at}/${sessionId}?changes=true`)).toMatchObject({ changedFiles: 3 });
  expect(await ok('POST', `${at}/${sessionId}/mode`, { title: 'Second' })).toMatchObject({ title: 'Second' });
  const fork = await ok<SessionView>('POST', `${at}/${sessionId}/fork`, {});
  expect(fork.forkedFrom).toMatchObject({ sessionId });
  expect(await ok('POST', `${at}/${sessionId}/close`, {})).toMatchObject({ state: 'closed' });
  expect((await call('POST', `${at}/${sessionId}/prompt`, { text })).status).toBe(409);
  await ok('DELETE', `${at}/${sessionId}`);
  expect((await call('GET', `${at}/${sessionId}`)).status).toBe(404);
  expect(await ok<SessionView[]>('GET', '/v1/sessions')).toMatchObject([{ sessionId: fork.sessionId }]);
  expect(
    inside.sessions
      .get(idOf())!
      .list()
      .map(({ id }) => id),
  ).toEqual([fork.sessionId]);
  const log = await (await app.request('/v1/audit')).text();
  for (const verb of ['create', 'prompt', 'configure', 'fork', 'close', 'remove'])
    expect(log).toContain(`"verb":"session.${verb}","targets":[{"name":"box"},{"name":"${sessionId}"}]`);
  expect(log).not.toContain(text);
});

test('S11 events are replayed after a position, each with its number', async () => {
  const { sessionId } = await ok<SessionView>('POST', at, demo);
  await prompted(sessionId);
  const events = async (search: string, headers = {}) => {
    const body = (await app.request(`${at}/${sessionId}/events${search}`, { headers })).body!.getReader();
    return new TextDecoder().decode((await body.read()).value);
  };
  expect(await events('')).toMatch(/^data: \{"seq":1,.*\}\nid: 1\n\n/);
  expect(await events('?after=2')).toMatch(/^data: \{"seq":3,/);
  expect(await events('', { 'last-event-id': '4' })).toMatch(/^data: \{"seq":5,/);
  expect((await call('GET', `${at}/${sessionId}/events?after=99`)).status).toBe(400);
});

test('S2 a prompt that is repeated with the same turn id is taken once', async () => {
  const { sessionId } = await ok<SessionView>('POST', at, demo);
  await prompted(sessionId, { turnId: 'mine' });
  await prompted(sessionId, { turnId: 'mine' });
  expect((await ok<object[]>('GET', `${at}/${sessionId}/messages`)).length).toBe(2);
});

test('S4 a stopped sandbox answers reads from the copy, and a prompt starts it', async () => {
  const { sessionId } = await ok<SessionView>('POST', at, demo);
  await prompted(sessionId);
  inside.kill(idOf());
  await ok('POST', '/v1/sandboxes/box/stop', { graceMs: 0 });
  expect((await ok<object[]>('GET', `${at}/${sessionId}/messages`)).length).toBe(2);
  expect(await ok<object[]>('GET', at)).toHaveLength(1);
  await prompted(sessionId);
  expect(await ok('GET', '/v1/sandboxes/box')).toMatchObject({ state: 'running' });
  expect((await ok<object[]>('GET', `${at}/${sessionId}/messages`)).length).toBe(4);
});

test('sessions of another user are not found, whatever the route', async () => {
  const { sessionId } = await ok<SessionView>('POST', at, demo);
  const token = await addUser('bob');
  const bob = (method: string, path: string, body?: unknown) => comeAs(shared, withToken(token), method, path, body);
  expect((await bob('GET', '/v1/sessions')).body).toEqual([]);
  expect((await bob('GET', `${at}/${sessionId}`)).status).toBe(404);
  expect((await bob('POST', `${at}/${sessionId}/prompt`, { text })).status).toBe(404);
  await bob('POST', '/v1/sandboxes', { name: 'box', command: ['sleep', '1000'] });
  expect((await bob('GET', `${at}/${sessionId}`)).status).toBe(404);
  expect((await bob('POST', `${at}/${sessionId}/prompt`, { text })).status).toBe(404);
});

test('a repeated request for a sandbox and a session makes one of each and has the same answer', async () => {
  const project = mkdtempSync(join(tmpdir(), 'carrel-sessions-'));
  const body = { ...demo, project, sessionId: '01ARZ3NDEKTSV4RRFFQ69G5FAV', sandbox: { mode: 'bind' } };
  const answers = await Promise.all([1, 2].map(() => ok<SessionView>('POST', '/v1/sessions', body)));
  answers.push(await ok<SessionView>('POST', '/v1/sessions', body));
  expect(new Set(answers.map(({ sandbox, sessionId, seq }) => `${sandbox} ${sessionId} ${seq}`)).size).toBe(1);
  expect(store.list('sandbox')).toHaveLength(2);
  expect(await ok<SessionView[]>('GET', '/v1/sessions')).toHaveLength(1);
  const other = await call('POST', '/v1/sessions', { ...body, name: 'other' });
  expect([other.status, JSON.stringify(other.body)]).toEqual([409, expect.stringContaining('needs a new id')]);
  rmSync(project, { recursive: true });
});

test('a token of a sandbox is shown once, listed without it, revoked, and audited without it', async () => {
  const tokens = '/v1/sandboxes/box/session-tokens';
  const { token, ...made } = await ok<NewSessionToken>('POST', tokens);
  expect(made).toEqual({ id: expect.stringMatching(/^[0-9a-f]{8}$/), createdAt: expect.any(String), url: null });
  const listed = await ok<object[]>('GET', tokens);
  expect(listed).toEqual([{ id: made.id, createdAt: made.createdAt }]);
  expect(readFileSync(join(home, `tokens-${idOf()}`), 'utf8')).not.toContain(token);
  expect(await ok('DELETE', `${tokens}/${made.id}`)).toEqual(listed[0]);
  expect((await call('DELETE', `${tokens}/${made.id}`)).status).toBe(404);
  expect(await ok('GET', tokens)).toEqual([]);
  const log = await (await app.request('/v1/audit')).text();
  expect(log).toContain('session.token.remove');
  expect(log).not.toContain(token);
});

test.each([
  ['an unknown agent', 'POST', at, { agent: 'nosuch' }, 404, 'There are claude, codex, gemini, opencode, demo'],
  ['an agent whose key the sandbox lacks', 'POST', at, { agent: 'claude' }, 404, 'carrel secret set ANTHROPIC_API_KEY'],
  ['an unknown field', 'POST', at, { agent: 'demo', nosuch: 1 }, 400, ''],
  ['a malformed session id', 'GET', `${at}/x`, undefined, 404, 'carrel session ls'],
  [
    'a session that does not exist',
    'POST',
    `${at}/01ARZ3NDEKTSV4RRFFQ69G5FAV/prompt`,
    { text },
    404,
    'carrel session ls',
  ],
])('%s is refused with a hint', async (_what, method, path, body, status, hint) => {
  const answer = await call(method, path, body);
  expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.stringContaining(hint)]);
});
