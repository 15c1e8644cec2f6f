import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  answered,
  type ServedSessions,
  SessionClient,
  serveForTest,
} from '../../../../../test/fixtures/session-client.ts';
import { FakeSessions } from '../fake.ts';
import { type ApiLimits, apiLimits } from './limit.ts';

let served: ServedSessions<FakeSessions>;
afterEach(() => served.close());

async function serve(changed: Partial<ApiLimits> = {}): Promise<SessionClient> {
  served = await serveForTest(new FakeSessions(), changed);
  return served.client;
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

async function session(): Promise<string> {
  return (await served.sessions.create({})).id;
}

/** Everything that the server sends on a connection until it ends. */
async function raw(text: string): Promise<string> {
  const socket = connect(served.client.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(text);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

describe('S16 without a token of the sandbox', () => {
  it.each([
    ['no header', {}],
    ['a wrong one', { authorization: 'Bearer wrong' }],
    ['an empty one', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: 'Basic Og==' }],
    ['two', { authorization: 'Bearer a b' }],
  ])('a request with %s is refused at every path', async (_, headers) => {
    const client = await serve();
    const stranger = new SessionClient(client.port, '');
    for (const path of ['/', '/health', '/sessions', '/chat', '/events', '/nothing', '/v1/acp']) {
      const { status, headers: got, body } = await stranger.get(path, headers);
      expect({ status, challenge: got['www-authenticate'], code: body.code }).toEqual({
        status: 401,
        challenge: 'Bearer',
        code: 'unauthenticated',
      });
    }
  });

  it('the hash of the token, which can be read inside, is refused as a token', async () => {
    const client = await serve();
    const thief = new SessionClient(client.port, served.settings.tokens[0]!);
    expect((await thief.get('/sessions')).status).toBe(401);
  });

  it('a token of a client and its hash are accepted; the hash of the hash, which is inside, is not', async () => {
    const client = await serve();
    const [hash, known] = [hashOf('of-a-client'), hashOf(hashOf('of-a-client'))];
    served.settings.tokens = [...served.settings.tokens, known];
    const status = async (token: string) => (await new SessionClient(client.port, token).get('/sessions')).status;
    expect(await Promise.all(['of-a-client', hash, known].map(status))).toEqual([200, 200, 401]);
  });

  it('a token in the URL is refused, even with a valid header', async () => {
    const client = await serve();
    const stranger = new SessionClient(client.port, '');
    expect((await stranger.get(`/sessions?token=${client.token}`)).status).toBe(401);
    for (const name of ['token', 'access_token', 'API_KEY'])
      expect((await client.get(`/sessions?${name}=x`)).body.message).toBe('a token in a URL is refused');
  });

  it('a token of another client can neither read digests nor replace a log', async () => {
    const client = await serve();
    const id = await session();
    served.settings.tokens = ['0'.repeat(64), ...served.settings.tokens];
    expect((await client.get(`/sessions/${id}`)).status).toBe(200);
    expect((await client.get(`/sessions/${id}/digest?seq=0`)).status).toBe(404);
    expect((await client.post(`/sessions/${id}/restore`, '')).status).toBe(404);
  });

  it('many tries without a valid token are refused with 429, and requests with one are not', async () => {
    const client = await serve({ refusedRate: { perSecond: 0.001, burst: 3 } });
    const stranger = new SessionClient(client.port, 'wrong');
    const statuses = [];
    for (let tries = 0; tries < 5; tries++) statuses.push((await stranger.get('/sessions')).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect((await client.get('/sessions')).status).toBe(200);
  });

  it('removing a token ends the streams that use it', async () => {
    const client = await serve({ heartbeatMs: 20 });
    const id = await session();
    const stream = client.events(`/sessions/${id}/events`);
    await stream.next();
    served.settings.tokens = [];
    await expect(
      (async () => {
        for await (const _ of stream);
      })(),
    ).rejects.toThrow();
    expect((await client.get('/sessions')).status).toBe(401);
  });

  it('more requests than the rate allows are refused with the time to wait', async () => {
    const client = await serve({ rate: { perSecond: 0.5, burst: 2 } });
    const [, , third] = [await client.get('/health'), await client.get('/health'), await client.get('/health')];
    expect(third).toMatchObject({ status: 429, headers: { 'retry-after': '2' }, body: { code: 'unavailable' } });
  });
});

describe('pages in a browser', () => {
  it.each(['evil.example', 'evil.example:3002', '127.0.0.1.evil.example', 'web', '0.0.0.0'])(
    'the Host %j is refused',
    async (host) => {
      const client = await serve();
      expect(await client.get('/sessions', { host })).toMatchObject({ status: 403, body: { code: 'denied' } });
    },
  );

  it.each(['http://evil.example', 'null', 'file://', 'http://localhost.evil.example', 'http://a@localhost'])(
    'the Origin %j is refused, for a preflight, too',
    async (origin) => {
      const client = await serve();
      expect((await client.get('/sessions', { origin })).status).toBe(403);
      const preflight = await client.call('OPTIONS', '/chat', '', { origin, 'access-control-request-method': 'POST' });
      expect(preflight.status).toBe(403);
      expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
    },
  );

  it('may call from an origin of this machine, with a token', async () => {
    const client = await serve();
    const page = { origin: 'http://localhost:5173' };
    const stranger = new SessionClient(client.port, '');
    const preflight = await stranger.call('OPTIONS', '/chat', '', { ...page, 'access-control-request-method': 'POST' });
    expect(preflight).toMatchObject({ status: 204, headers: { 'access-control-allow-origin': page.origin } });
    expect((await stranger.get('/chat', page)).status).toBe(401);
    expect(await client.get('/chat', page)).toMatchObject({
      status: 200,
      headers: { 'access-control-allow-origin': page.origin },
    });
  });
});

describe('paths and methods', () => {
  it.each([
    '/sessions/..%2f..%2fetc%2fpasswd',
    '/sessions/%2e%2e/health',
    '/sessions/../health',
    '/sessions//events',
    '/sessions/01jd8q4z7w3v5t1n9r2b6c8d0e',
    '/sessions/__proto__',
    '/sessions/%00',
    '/sessions/%',
    '//health',
    '/health/',
    '/constructor',
    'http://evil.example/health',
  ])('%s is refused', async (path) => {
    const client = await serve();
    expect([400, 404]).toContain((await client.get(path)).status);
  });

  it('other methods are refused with 405 and the allowed methods', async () => {
    const client = await serve();
    const id = await session();
    for (const method of ['PUT', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE'])
      expect(await client.call(method, `/sessions/${id}`)).toMatchObject({
        status: 405,
        headers: { allow: 'GET, DELETE' },
      });
    expect((await client.call('DELETE', '/health')).status).toBe(405);
  });

  it.each(['-1', '1.5', 'abc', '0x1', '99', '9'.repeat(400), '1;2', '1,2', '{}'])(
    'the position %j is refused',
    async (last) => {
      const client = await serve();
      const path = `/sessions/${await session()}/events`;
      expect((await client.get(path, { 'last-event-id': last })).status).toBe(400);
      expect((await client.get(`${path}?after=${encodeURIComponent(last)}`)).status).toBe(400);
    },
  );

  it.each([
    'x',
    '[]',
    '{"x":1}',
    '{"__proto__":1}',
    '{"01JD8Q4Z7W3V5T1N9R2B6C8D0E":-1}',
    '{"01JD8Q4Z7W3V5T1N9R2B6C8D0E":"1"}',
  ])('the positions %s are refused', async (after) => {
    const client = await serve();
    expect((await client.get(`/events?after=${encodeURIComponent(after)}`)).status).toBe(400);
  });
});

describe('bodies', () => {
  it.each([
    'x',
    '[]',
    '{"text":1}',
    '{"text":"a","content":[{"type":"text","text":"b"}]}',
    '{"content":[]}',
    '{"text":"a","role":"system"}',
    '{"text":"a","turnId":"../x"}',
    '{"content":[{"type":"video"}]}',
    '[['.repeat(100_000),
  ])('the prompt %.40s is refused', async (body) => {
    const client = await serve();
    const id = await session();
    expect((await client.post(`/sessions/${id}/prompt`, body)).status).toBe(400);
    expect(served.sessions.find(id).fold.turns).toEqual([]);
  });

  it('a body of 100 MB is refused before it is sent', async () => {
    const client = await serve();
    const request = client.open('POST', '/sessions', { 'content-length': 100_000_000 });
    request.flushHeaders();
    const response = await answered(request);
    expect(response.statusCode).toBe(413);
    request.destroy();
  });

  it('a body without a length is read up to the limit only', async () => {
    const client = await serve();
    const request = client.open('POST', '/sessions', { 'transfer-encoding': 'chunked' });
    request.on('error', () => {});
    const response = answered(request);
    let sent = 0;
    const chunk = Buffer.alloc(1024 * 1024, 32);
    while (sent < 100 && !request.destroyed) {
      sent += 1;
      if (!request.write(chunk)) await Promise.race([once(request, 'drain'), once(request, 'close'), response]);
      if ((await Promise.race([response, null])) !== null) break;
    }
    expect((await response).statusCode).toBe(413);
    expect(sent).toBeLessThan(50);
    request.destroy();
  });

  it('a line of a log that is too long is refused', async () => {
    const client = await serve();
    const id = await session();
    const { status, body } = await client.post(`/sessions/${id}/restore`, `${'x'.repeat(3 * 1024 * 1024)}\n`);
    expect({ status, code: body.code }).toEqual({ status: 413, code: 'exhausted' });
  });

  it('large headers are refused', async () => {
    const client = await serve();
    expect((await client.get('/sessions', { 'x-large': 'x'.repeat(100_000) })).status).toBe(431);
  });
});

describe('connections', () => {
  it('are accepted at 127.0.0.1 only', async () => {
    const client = await serve();
    await expect(
      (async () => {
        const socket = connect(client.port, '::1');
        await once(socket, 'connect');
      })(),
    ).rejects.toThrow();
  });

  it('with slow headers or a slow body are ended', async () => {
    const client = await serve({ headersMs: 100, requestMs: 200, checkMs: 50 });
    const authorization = `Authorization: Bearer ${client.token}\r\n`;
    expect(await raw('GET /health HTTP/1.1\r\nHost: localhost\r\n')).toContain('408');
    expect(
      await raw(`POST /sessions HTTP/1.1\r\nHost: localhost\r\n${authorization}Content-Length: 10\r\n\r\n{`),
    ).not.toContain(' 200 ');
    expect(served.sessions.list()).toEqual([]);
  });

  it('without a token are closed when connections with a token need their place', async () => {
    const connections = { ...apiLimits().connections, perAccount: 4, total: 4 };
    const client = await serve({ connections });
    const idle = Array.from({ length: 20 }, () => connect(client.port, '127.0.0.1').on('error', () => {}));
    await Promise.all(idle.map((socket) => once(socket, 'connect')));
    const id = await session();
    const streams = [0, 1, 2].map(() => client.events(`/sessions/${id}/events`));
    for (const stream of streams) expect((await stream.next()).value?.id).toBe('1');
    expect((await client.get('/health')).status).toBe(200);
    for (const stream of streams) await stream.return(undefined);
    for (const socket of idle) socket.destroy();
  });

  it('of a thousand clients get every event once, in order', async () => {
    const client = await serve();
    const id = await session();
    const [clients, events] = [1000, 10];
    const followers = Array.from({ length: clients }, () => client.first(`/sessions/${id}/events`, events));
    for (let at = 2; at < events; at++) await client.post(`/sessions/${id}/mode`, { title: `title ${at}` });
    const wanted = Array.from({ length: events }, (_, at) => String(at + 1));
    for (const seen of await Promise.all(followers)) expect(seen.map((sent) => sent.id)).toEqual(wanted);
  });

  it('of a client that does not read are ended, and do not delay other clients', async () => {
    // On a busy machine the client that does read may pause for a second.
    const client = await serve({ stallMs: 2000 });
    const id = await session();
    const accepted = once(served.server, 'connection');
    const request = client.open('GET', `/sessions/${id}/events`);
    const response = answered(request);
    request.end();
    const [connection] = (await accepted) as [Socket];
    (await response).on('error', () => {});
    const large = 'x'.repeat(200_000);
    for (let at = 0; at < 100; at++) served.sessions.find(id).append('text', { text: large }, 't');
    const seen = await client.first(`/sessions/${id}/events`, 102);
    expect(seen).toHaveLength(102);
    if (!connection.destroyed) await once(connection, 'close');
    request.destroy();
    const again = await client.first(`/sessions/${id}/events?after=101`, 1);
    expect(again.map((sent) => sent.id)).toEqual(['102']);
  });
});
