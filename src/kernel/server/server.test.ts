import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { comeAs, type ServedApp, serve, withToken } from '../../../test/fixtures/served.ts';
import { methodAndPath } from '../../lib/wire/api.ts';
import type { Event } from '../../model/event.ts';
import { Fault } from '../../model/fault.ts';
import { ulidAfter } from '../../model/ulid.ts';
import { routes } from '../../noun/app.ts';
import { type Listening, listen } from './listen.ts';

let { home, store, engine, work, app, shared, call, addUser, dispose }: ServedApp = {} as ServedApp;
beforeEach(() => {
  ({ home, store, engine, work, app, shared, call, addUser, dispose } = serve());
});
afterEach(() => dispose());

describe('the OpenAPI document', () => {
  it('has exactly the routes that are served', async () => {
    const { body } = await call('GET', '/openapi.json');
    const documented = Object.entries((body as { paths: Record<string, object> }).paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const declared = routes.map(({ key }) => key);
    expect(documented.sort()).toEqual(declared.sort());
    const served = app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`);
    const plain = routes.filter(({ answer }) => answer !== 'upgrade');
    expect(served.sort()).toEqual(plain.map(({ key }) => key.replaceAll(/\{(\w+)\}/g, ':$1')).sort());
  });
});

test('a file in the place of the socket is an error and is not removed', async () => {
  const path = join(home, 'notes');
  writeFileSync(path, 'mine');
  await expect(listen({ home } as Listening, path)).rejects.toThrow(`${path} is not a socket`);
  expect(readFileSync(path, 'utf8')).toBe('mine');
});

test.each([
  ['nowhere/carrel.sock', 'there is no folder'],
  ['x'.repeat(100), 'is longer than'],
  ['carrel.sock', "is the owner's alone"],
])('a socket cannot be shared at %s', async (name, why) => {
  const refusal = { code: 'invalid', message: expect.stringContaining(why) };
  await expect(listen({ home } as Listening, join(home, name))).rejects.toMatchObject(refusal);
});

test('the OpenAPI document says which requests may have no body', async () => {
  const { body } = await call('GET', '/openapi.json');
  const { paths } = body as { paths: Record<string, { post: { requestBody: { required: boolean } } }> };
  expect(paths['/v1/users']!.post.requestBody.required).toBe(true);
  expect(paths['/v1/shutdown']!.post.requestBody.required).toBe(false);
});

describe('with an engine that does not answer', () => {
  const away = new Fault('unavailable', 'the engine does not answer');

  it('a sandbox is shown with its last known state, and why it may be out of date', async () => {
    await call('POST', '/v1/sandboxes', { name: 'a' });
    engine.faults.failNext('inspect', away);
    expect(await call('GET', '/v1/sandboxes/a')).toMatchObject({
      status: 200,
      body: { state: 'running', unseen: 'the engine does not answer' },
    });
    engine.faults.failNext('inspect', away);
    expect((await call('GET', '/v1/sandboxes')).body).toMatchObject([
      { state: 'running', unseen: 'the engine does not answer' },
    ]);
    expect((await call('GET', '/v1/sandboxes/a')).body).toMatchObject({ state: 'running', unseen: null });
    engine.faults.failNext('inspect', new Fault('corrupt', 'a record is broken'));
    expect(await call('GET', '/v1/sandboxes/a')).toMatchObject({ status: 500, body: { code: 'corrupt' } });
  });

  it('a log that the daemon keeps can still be read', async () => {
    await call('POST', '/v1/sandboxes', { name: 'a', command: ['echo', 'kept'] });
    engine.faults.failNext('inspect', away);
    const answer = await app.request('/v1/sandboxes/a/logs');
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('kept')]);
  });
});

describe('a request', () => {
  it('names an image or a root filesystem, not both', async () => {
    const both = { engine: 'docker', image: 'a', rootfs: '/' };
    expect(await call('POST', '/v1/sandboxes', both)).toMatchObject({ status: 400, body: { code: 'invalid' } });
  });

  it.each([
    { privileged: true },
    { capabilities: ['SYS_ADMIN'] },
    { devices: ['/dev/kvm'] },
    { pid: 'host' },
    { ipc: 'host' },
    { uts: 'host' },
    { userns: 'host' },
    { mounts: [{ source: '/var/run/docker.sock', target: '/x' }] },
    { binds: ['/:/host'] },
    { securityOpt: ['seccomp=unconfined'] },
    { limits: { oomKillDisable: true } },
    { network: 'host' },
    { network: { mode: 'host' } },
    { runtime: '/bin/sh' },
    { volumes: [{ volume: '/var/run/docker.sock', target: '/x' }] },
    { volumes: [{ volume: '../../run', target: '/x' }] },
    { volumes: [{ volume: 'session', target: '/x', source: '/' }] },
  ])('cannot express %j', async (fields) => {
    for (const engine of ['local', 'docker']) {
      const { status } = await call('POST', '/v1/sandboxes', { engine, ...fields });
      expect(status).toBeGreaterThanOrEqual(400);
    }
    expect(await engine.list()).toEqual([]);
  });

  it.each([
    [{ nme: 'x' }, 'body: "nme" is not known here'],
    [{ limits: { memoryBytes: -1 } }, 'body.limits.memoryBytes: '],
    [{ limits: { memoryBytes: 1 } }, 'limits.memoryBytes: 1B is out of range'],
    [{ name: 'No Good' }, '"No Good" is not a sandbox name'],
    [{ command: ['a\0b'] }, 'body.command.0: '],
    [{ env: { 'A B': '1' } }, 'body.env'],
    [{ project: 'relative' }, 'does not exist'],
    [{ mode: 'bind' }, 'mode bind needs a project'],
  ])('with %j is refused with the field and the reason', async (body, message) => {
    const answer = await call('POST', '/v1/sandboxes', body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'invalid', message: expect.stringContaining(message) });
    expect(store.list('sandbox')).toEqual([]);
  });

  it('with a wrong field is refused with its name, also in the data for programs', async () => {
    const { body } = await call('POST', '/v1/sandboxes', { limits: { pids: 1.5 } });
    expect(body).toMatchObject({ data: { field: 'body.limits.pids' } });
    expect((await call('POST', '/v1/sandboxes', { limits: { pids: 1 } })).body).toMatchObject({
      data: { field: 'limits.pids' },
    });
  });

  it('that is not JSON, or too large, or has too many values, or is for no route, is refused', async () => {
    expect((await app.request('/v1/sandboxes', { method: 'POST', body: '{' })).status).toBe(400);
    expect((await app.request('/v1/sandboxes', { method: 'POST', body: ' '.repeat(9 * 1024 * 1024) })).status).toBe(
      400,
    );
    expect(await call('POST', '/v1/sandboxes', new Array(200_000).fill([]))).toMatchObject({
      status: 400,
      body: { message: 'the JSON has more than 100000 values' },
    });
    expect(await call('GET', '/nowhere')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});

describe('a sandbox', () => {
  it('is created, shown, stopped, started and removed', async () => {
    expect(await call('POST', '/v1/sandboxes', { name: 'box' })).toMatchObject({
      body: { name: 'box', state: 'running' },
    });
    expect(await call('GET', '/v1/sandboxes/box')).toMatchObject({
      status: 200,
      body: { user: 'ann', network: { allow: [], ports: [] } },
    });
    expect(await call('DELETE', '/v1/sandboxes/box')).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(await call('POST', '/v1/sandboxes/box/stop', {})).toMatchObject({ body: { state: 'stopped' } });
    expect(await call('POST', '/v1/sandboxes/box/start')).toMatchObject({ body: { state: 'running' } });
    expect((await call('DELETE', '/v1/sandboxes/box?force=true')).status).toBe(200);
    expect(await call('GET', '/v1/sandboxes/box')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await engine.list()).toEqual([]);
  });

  it('is removed by age only if it ended that long ago, also with force', async () => {
    const remove = async (query: string) => (await call('DELETE', `/v1/sandboxes/box?${query}`)).status;
    const days = (count: number) => `staleMs=${count * 86_400_000}`;
    await call('POST', '/v1/sandboxes', { name: 'box' });
    expect(await remove(`${days(1)}&force=true`)).toBe(409);
    await call('POST', '/v1/sandboxes/box/stop', {});
    expect(await remove(`${days(31)}&force=true`)).toBe(409);
    expect(await remove(`${days(30)}&dryRun=true`)).toBe(200);
    expect(await remove(days(30))).toBe(200);
    expect(await remove(days(30))).toBe(404);
  });

  it('has its pending waits answered with unavailable when the daemon shuts down', async () => {
    await call('POST', '/v1/sandboxes', { name: 'box' });
    const waiting = call('GET', '/v1/sandboxes/box/wait');
    void work.close();
    expect(await waiting).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  });

  it('needs a name that no other sandbox has', async () => {
    const answers = await Promise.all([1, 2].map(() => call('POST', '/v1/sandboxes', { name: 'box' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('leaves nothing behind if it cannot be started', async () => {
    engine.faults.failNext('start', new Fault('unsupported', 'no runtime'));
    expect(await call('POST', '/v1/sandboxes', { name: 'box' })).toMatchObject({
      status: 501,
      body: { code: 'unsupported' },
    });
    expect(store.list('sandbox')).toEqual([]);
    expect(await engine.list()).toEqual([]);
  });
});

describe('events', () => {
  it('are replayed from any sequence number, then followed', async () => {
    await call('POST', '/v1/sandboxes', { name: 'one' });
    const { body: all } = await call('GET', '/v1/events');
    const [first] = all as { seq: number }[];
    const stop = new AbortController();
    const response = await app.request('/v1/events/stream', {
      headers: { 'last-event-id': String(first!.seq) },
      signal: stop.signal,
    });
    const reader = response.body!.getReader();
    const seen = async (text: string) => {
      let got = '';
      while (!got.includes(text)) got += Buffer.from((await reader.read()).value!).toString('utf8');
      return got;
    };
    expect(await seen('sandbox.started')).not.toContain('sandbox.created');
    await call('POST', '/v1/sandboxes', { name: 'two' });
    expect(await seen('"two"')).toContain('sandbox.created');
    await reader.cancel();
  });

  it('that were dropped are reported to a client that follows from an earlier one', async () => {
    const { body: box } = await call('POST', '/v1/sandboxes', { name: 'box' });
    const { id } = box as { id: string };
    for (let n = 0; n < 1500; n += 1) {
      const row = store.get('sandbox', id)!;
      store.update(row, row.value, { at: '', type: 'sandbox.seen', subject: id, data: { user: 'ann' } });
    }
    const first = store.firstSeq();
    expect(first).toBeGreaterThan(3);
    const page = async (query: string) => (await call('GET', `/v1/events${query}`)).body as Event[];
    expect((await page('?limit=2')).map(({ seq }) => seq)).toEqual([first, first + 1]);
    expect(await page('?after=2&limit=2')).toMatchObject([
      { seq: first - 1, type: 'events.dropped', data: { from: 3, to: first - 1 } },
      { seq: first, type: 'sandbox.seen' },
    ]);
    expect((await page(`?after=${first - 1}&limit=1`))[0]!.seq).toBe(first);
    const stop = new AbortController();
    const response = await app.request('/v1/events/stream?after=2', { signal: stop.signal });
    const reader = response.body!.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toContain(`events.dropped`);
    await reader.cancel();
  });
});

describe('users', () => {
  it('authenticate only by a token, of which only the hash is stored', async () => {
    const token = await addUser('bob');
    expect((await comeAs(shared, {}, 'GET', '/v1/sandboxes')).status).toBe(401);
    expect((await comeAs(shared, withToken('carrel_x'), 'GET', '/v1/sandboxes')).status).toBe(401);
    expect((await comeAs(shared, withToken(token), 'GET', '/v1/sandboxes')).status).toBe(200);
    expect((await comeAs(shared, {}, 'GET', '/health')).status).toBe(200);
    expect(JSON.stringify([store.list('user'), store.events(0, 100)])).not.toContain(token);
    expect((await call('POST', '/v1/users', { name: 'bob' })).status).toBe(409);
    expect((await call('DELETE', '/v1/users/bob')).status).toBe(200);
    expect((await comeAs(shared, withToken(token), 'GET', '/v1/sandboxes')).status).toBe(401);
  });

  it('get a new token from the owner or by themselves and keep their sandboxes; the old token is refused', async () => {
    const first = await addUser('bob');
    await addUser('eve');
    await call('POST', '/v1/sandboxes', { name: 'box', user: 'bob' });
    const before = store.find('user', '', 'bob')!.value;
    const seen = async (token: string) => (await comeAs(shared, withToken(token), 'GET', '/v1/sandboxes')).status;
    const { body } = await call('POST', '/v1/users/token', { name: 'bob' });
    const second = (body as { token: string }).token;
    expect([await seen(first), await seen(second)]).toEqual([401, 200]);
    const own = await comeAs(shared, withToken(second), 'POST', '/v1/users/token', {});
    const third = (own.body as { token: string }).token;
    expect([await seen(second), await seen(third)]).toEqual([401, 200]);
    expect((await comeAs(shared, withToken(third), 'GET', '/v1/sandboxes')).body).toHaveLength(1);
    expect(store.find('user', '', 'bob')!.value).toEqual({ ...before, tokenHash: expect.any(String) });
    for (const name of ['eve', 'ann', 'nosuch'])
      expect((await comeAs(shared, withToken(third), 'POST', '/v1/users/token', { name })).status).toBe(404);
    expect((await call('POST', '/v1/users/token', { name: 'nosuch' })).status).toBe(404);
    expect((await call('POST', '/v1/users/token', {})).status).toBe(409);
    expect(JSON.stringify([store.list('user'), store.events(0, 100)])).not.toContain(third);
  });

  it('get a notice only if the daemon is older than their command', async () => {
    const token = withToken(await addUser('bob'));
    const noticeFor = async (clientBuild: string) => {
      const response = await shared.request('/v1/sandboxes', { headers: { ...token, 'carrel-client': clientBuild } });
      expect(response.status).toBe(200);
      return decodeURIComponent(response.headers.get('carrel-notice') ?? '');
    };
    const build = (builtAt: string) => encodeURIComponent(JSON.stringify({ version: '0.1.0', build: 'x', builtAt }));
    expect(await noticeFor(build('2026-02-01T00:00:00.000Z'))).toMatch(/^the daemon is older than this command: /);
    for (const clientBuild of [build('2025-02-01T00:00:00.000Z'), '%', '{}', 'null'])
      expect(await noticeFor(clientBuild)).toBe('');
  });

  it('get not_found for sandboxes of another user, on any route', async () => {
    const token = await addUser('bob');
    await call('POST', '/v1/sandboxes', { name: 'box' });
    const bob = (method: string, path: string, body?: unknown) => comeAs(shared, withToken(token), method, path, body);
    const named = routes.filter(({ key }) => key.includes(' /v1/sandboxes/{name}'));
    const others = /changes|diff|offer|patch|fetch|name}\/log$|undo|discard|snapshots|restore|fork/;
    const tried = named.filter(({ key, answer }) => answer !== 'upgrade' && !others.test(key));
    expect(tried.length).toBeGreaterThan(5);
    for (const { method, path } of tried.map(({ key }) => methodAndPath(key))) {
      const body = /explain/.test(path) ? { asked: 'a.example:1' } : /ports/.test(path) ? { port: 1 } : {};
      const answer = await bob(
        method,
        path.replace('{name}', 'box').replace('{id}', ulidAfter(null, 0)),
        method === 'POST' ? body : undefined,
      );
      expect([path, answer.status]).toEqual([path, 404]);
    }
    expect((await bob('GET', '/v1/sandboxes')).body).toEqual([]);
    expect((await bob('GET', '/v1/events')).body).toEqual([expect.objectContaining({ type: 'user.added' })]);
    expect((await bob('POST', '/v1/sandboxes', { name: 'box' })).status).toBe(200);
    expect((await bob('POST', '/v1/sandboxes', { name: 'other', user: 'ann' })).status).toBe(404);
    for (const project of ['/usr/lib', '/no/such/folder', home])
      expect((await bob('POST', '/v1/sandboxes', { name: 'other', project })).status).toBe(403);
    expect((await bob('POST', '/v1/sandboxes', { name: 'other', rootfs: '/usr' })).status).toBe(403);
    for (const [method, path, body] of [
      ['GET', '/v1/sandboxes?allUsers=true'],
      ['GET', '/v1/doctor'],
      ['POST', '/v1/shutdown', {}],
      ['POST', '/v1/users', { name: 'eve' }],
      ['DELETE', '/v1/users/ann'],
    ] as const)
      expect([path, (await bob(method, path, body)).status]).toEqual([path, 403]);
    const asAnn = await comeAs(shared, withToken(token, { 'carrel-user': 'ann' }), 'GET', '/v1/sandboxes');
    expect(asAnn.status).toBe(404);
    expect((await bob('GET', '/v1/users')).body).toHaveLength(1);
  });

  it('are all visible to the owner, who may act as each of them', async () => {
    await addUser('bob');
    await call('POST', '/v1/sandboxes', { name: 'box', user: 'bob' });
    expect((await call('GET', '/v1/sandboxes')).body).toEqual([]);
    expect((await call('GET', '/v1/sandboxes?allUsers=true')).body).toEqual([
      expect.objectContaining({ name: 'box', user: 'bob' }),
    ]);
    expect((await call('DELETE', '/v1/users/bob')).status).toBe(409);
    const asBob = { 'carrel-user': 'bob' };
    expect((await comeAs(app, asBob, 'DELETE', '/v1/sandboxes/box?force=true')).status).toBe(200);
    expect((await call('DELETE', '/v1/users/bob')).status).toBe(200);
    const { slot } = store.find('user', '', 'bob')!.value;
    await addUser('eve');
    expect(store.find('user', '', 'eve')!.value.slot).not.toBe(slot);
    await addUser('bob');
    expect(store.find('user', '', 'bob')!.value.slot).toBe(slot);
  });
});
