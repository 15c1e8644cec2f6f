/** MCP at the port: every transport and generation of the protocol with the official client, and requests that no client sends. */
import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http';
import { connect as tcp } from 'node:net';
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Port } from '../../src/kernel/server/port.ts';
import { type PortTimes, portTimes } from '../../src/kernel/server/port-server.ts';
import { bearer, NamedTokens, openClient, openTestPort, WebSocketTransport, waiting } from '../fixtures/mcp-port.ts';

const tokens = new NamedTokens();
let port: Port;
let mcp: string;
const clients: Client[] = [];

beforeAll(async () => {
  port = await openTestPort(tokens);
  mcp = `${port.origin}/mcp`;
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
afterAll(() => port.close());

async function connect(transport: string, modern: boolean, token = 'a'): Promise<Client> {
  const client = await openClient(mcp, transport, modern, token);
  clients.push(client);
  return client;
}

function signalled(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

function send(method: string, path: string, headers: OutgoingHttpHeaders, body: string | Buffer = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${port.origin}${path}`, { method, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body: text }));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

const accept = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

function rpc(method: string, params: object = {}, id = 1): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

const initialize = rpc('initialize', {
  ...{ protocolVersion: '2025-11-25', capabilities: {} },
  clientInfo: { name: 'raw', version: '1' },
});

async function openSession(token: string): Promise<string> {
  const { status, headers } = await send('POST', '/mcp', { ...accept, ...bearer(token) }, initialize);
  expect(status).toBe(200);
  return String(headers['mcp-session-id']);
}

describe.each([
  ['HTTP', '2025-11-25', false],
  ['HTTP', '2026-07-28', true],
  ['WebSocket', '2025-11-25', false],
  ['WebSocket', '2026-07-28', true],
])('over %s, revision %s', (transport, revision, modern) => {
  it('lists tools in a stable order and calls them', async () => {
    const client = await connect(transport, modern);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['echo', 'wait', 'report', 'fail']);
    expect(await client.callTool({ name: 'echo', arguments: { text: 'hello' } })).toMatchObject({
      structuredContent: { text: 'hello' },
      content: [{ type: 'text', text: '{"text":"hello"}' }],
    });
  });

  it('sends progress in order before the result', async () => {
    const client = await connect(transport, modern);
    const said: unknown[] = [];
    const options = { onprogress: ({ message }: { message?: string | undefined }) => void said.push(message) };
    await client.callTool({ name: 'report', arguments: { text: 'one two three' } }, options);
    expect(said).toEqual(['one', 'two', 'three']);
  });

  it('cancels a call when the client cancels its request', async () => {
    const client = await connect(transport, modern);
    const abort = new AbortController();
    const started = signalled();
    const running = client.callTool(
      { name: 'wait', arguments: { text: transport } },
      { signal: abort.signal, onprogress: () => started.resolve() },
    );
    await started.promise;
    const [signal] = waiting;
    const aborted = new Promise<void>((resolve) => signal!.addEventListener('abort', () => resolve()));
    abort.abort();
    await expect(running).rejects.toThrow();
    await aborted;
  });

  it('answers a Fault with its code and hint', async () => {
    const client = await connect(transport, modern);
    const result = (await client.callTool({ name: 'fail', arguments: { text: '' } })) as CallToolResult;
    expect(result).toMatchObject({ isError: true, _meta: { fault: { code: 'conflict', hint: 'Read it again.' } } });
    expect(result.content).toEqual([
      { type: 'text', text: 'conflict: the file is not as it was\nhint: Read it again.' },
    ]);
  });

  // Over HTTP each call has a connection, with both ends in this process; test/e2e/hub-load.test.ts sends more.
  const atOnce = transport === 'HTTP' ? 100 : 1000;
  it(`answers ${atOnce} calls at the same time`, async () => {
    const client = await connect(transport, modern, `many-${transport}-${revision}`);
    const calls = Array.from({ length: atOnce }, (_, at) =>
      client.callTool({ name: 'echo', arguments: { text: `${at}` } }),
    );
    const answers = (await Promise.all(calls)) as { structuredContent: { text: string } }[];
    expect(answers.map(({ structuredContent }) => Number(structuredContent.text))).toEqual([...answers.keys()]);
  });

  it('ends a running call when its token is revoked, and cancels its work', async () => {
    const token = `revoked-${transport}-${revision}`;
    const client = await connect(transport, modern, token);
    const started = signalled();
    const options = { onprogress: () => started.resolve() };
    const running = client.callTool({ name: 'wait', arguments: { text: token } }, options).then(
      (result) => (result as CallToolResult).content,
      (error: Error) => error,
    );
    await started.promise;
    const [signal] = waiting;
    tokens.revoke(token);
    if (!signal!.aborted) await new Promise((resolve) => signal!.addEventListener('abort', resolve));
    const text = 'unauthenticated: no such token';
    expect(await running).toEqual(transport === 'HTTP' ? [{ type: 'text', text }] : expect.any(Error));
  });

  it('refuses a client without a valid token', async () => {
    tokens.revoked.add('old');
    await expect(connect(transport, modern, 'old')).rejects.toThrow(/401|no such token/);
  });
});

it('the port answers GET /health to every client', async () => {
  const { status, body } = await send('GET', '/health', {});
  expect(status).toBe(200);
  expect(JSON.parse(body)).toEqual({ status: 'ok', version: expect.any(String), uptimeSeconds: expect.any(Number) });
  expect(await send('GET', '/', {})).toMatchObject({ status: 404 });
});

describe('requests of other sites', () => {
  it.each(['evil.example', 'evil.example:3000', 'localhost.evil.example', '127.0.0.1@evil.example', 'local host'])(
    'a Host of %j is refused before the token is looked at',
    async (host) => {
      for (const path of ['/health', '/mcp']) expect([400, 403]).toContain((await send('GET', path, { host })).status);
    },
  );

  it.each([
    'https://evil.example',
    'null',
    'http://localhost.evil.example',
    'file://',
    'http://127.0.0.1@evil.example',
  ])('an Origin of %j is refused', async (origin) => {
    expect(await send('POST', '/mcp', { ...accept, ...bearer('a'), origin }, initialize)).toMatchObject({
      status: 403,
    });
  });

  it('names and addresses of loopback are accepted', async () => {
    for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1:3000', '[::1]:3000'])
      expect(await send('GET', '/health', { host, origin: `http://${host}` })).toMatchObject({ status: 200 });
  });

  it('a WebSocket of a page of another site is refused', async () => {
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const key = { 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==', 'sec-websocket-protocol': 'mcp' };
    const origin = 'https://evil.example';
    expect(await send('GET', '/mcp', { ...upgrade, ...key, ...bearer('a'), origin })).toMatchObject({ status: 403 });
    const without = { ...upgrade, 'sec-websocket-key': key['sec-websocket-key'], ...bearer('a') };
    expect(await send('GET', '/mcp', without)).toMatchObject({ status: 400, body: expect.stringContaining('mcp') });
  });
});

describe('sizes and times', () => {
  it('a body of more than 8 MiB is refused', async () => {
    const body = `"${'a'.repeat(8 * 1024 * 1024)}"`;
    expect(await send('POST', '/mcp', { ...accept, ...bearer('a') }, body)).toMatchObject({ status: 413 });
  });

  it('a header of more than 16 KiB is refused', async () => {
    expect(await send('GET', '/health', { 'x-large': 'a'.repeat(20_000) })).toMatchObject({ status: 431 });
  });

  it('a body that is not JSON is answered with a parse error', async () => {
    const answer = await send('POST', '/mcp', { ...accept, ...bearer('a') }, '{"jsonrpc":');
    expect(answer).toMatchObject({ status: 400, body: expect.stringContaining('-32700') });
  });

  it('a client that sends no complete request is disconnected', async () => {
    const strict = await openTestPort(tokens, {}, { unauthenticatedMs: 200 });
    const socket = tcp(Number(new URL(strict.origin).port), '127.0.0.1');
    socket.write('POST /mcp HTTP/1.1\r\nHost: localhost\r\n');
    await new Promise((resolve) => socket.once('close', resolve).resume());
    await strict.close();
  });

  /** What the port answers to the beginning of a request until it closes the connection. */
  async function closedAfter(times: Partial<PortTimes>, ...lines: string[]): Promise<string> {
    const strict = await openTestPort(tokens, {}, { times: { checkMs: 20, ...times } });
    const socket = tcp(Number(new URL(strict.origin).port), '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.write(lines.join('\r\n'));
    await new Promise((resolve) => socket.once('close', resolve));
    await strict.close();
    return answer;
  }

  it('a client that takes too long for its headers gets 408', async () => {
    const answer = await closedAfter(
      { headersMs: 200, requestMs: 60_000 },
      'POST /mcp HTTP/1.1',
      'Host: localhost',
      '',
    );
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
  });

  it('a client with a token that takes too long for its body gets 408', async () => {
    const head = ['POST /mcp HTTP/1.1', 'Host: localhost', 'Authorization: Bearer a', 'Content-Length: 100', '', '{'];
    expect(await closedAfter({ headersMs: 100, requestMs: 300 }, ...head)).toMatch(/^HTTP\/1.1 408 /);
  });

  it('an idle connection is closed, and clients are advised to close it after half of the time', async () => {
    const idle = await closedAfter({ idleMs: 200 }, 'GET /health HTTP/1.1', 'Host: localhost', '', '');
    expect(idle).toMatch(/^HTTP\/1.1 200 /);
    expect((await send('GET', '/health', {})).headers['keep-alive']).toBe('timeout=30');
    expect(portTimes.idleMs).toBe(60_000);
  });

  it('a token has at most half of all connections', async () => {
    const small = await openTestPort(tokens, {}, { connections: 8 });
    const open = (token: string) => openClient(`${small.origin}/mcp`, 'WebSocket', false, token);
    try {
      const opened = await Promise.all(['a', 'a', 'a', 'a'].map(open));
      await expect(open('a')).rejects.toThrow('503');
      opened.push(await open('b'));
      await Promise.all(opened.map((client) => client.close()));
    } finally {
      await small.close();
    }
  });

  it('a token that sends more than its rate gets 429 and when to try again', async () => {
    const slow = await openTestPort(tokens, {}, { perSecond: 1 });
    const ask = () =>
      fetch(`${slow.origin}/mcp`, { method: 'POST', headers: { ...accept, ...bearer('a') }, body: initialize });
    const answers = await Promise.all(Array.from({ length: 6 }, ask));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 200, 429]);
    expect(answers.find(({ status }) => status === 429)?.headers.get('retry-after')).toBe('1');
    await slow.close();
  });
});

describe('sessions', () => {
  it('a session belongs to the token that opened it', async () => {
    const session = await openSession('a');
    const headers = { ...accept, 'mcp-session-id': session };
    const list = rpc('tools/list');
    expect(await send('POST', '/mcp', { ...headers, ...bearer('b') }, list)).toMatchObject({ status: 404 });
    expect(await send('GET', '/mcp', { ...headers, ...bearer('b'), 'last-event-id': '1' })).toMatchObject({
      status: 404,
    });
    expect(await send('DELETE', '/mcp', { ...headers, ...bearer('b') })).toMatchObject({ status: 404 });
    expect(await send('POST', '/mcp', { ...headers, ...bearer('a') }, list)).toMatchObject({ status: 200 });
    expect(await send('DELETE', '/mcp', { ...headers, ...bearer('a') })).toMatchObject({ status: 200 });
    expect(await send('POST', '/mcp', { ...headers, ...bearer('a') }, list)).toMatchObject({ status: 404 });
  });

  it('a stream is resumed after its last event, and only that stream', async () => {
    const session = await openSession('a');
    const headers = { ...accept, ...bearer('a'), 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
    const params = { name: 'report', arguments: { text: 'one two' }, _meta: { progressToken: 'p' } };
    const { body } = await send('POST', '/mcp', headers, rpc('tools/call', params));
    await send('POST', '/mcp', headers, rpc('tools/list', {}, 2));
    const [first, second, third, last] = [...body.matchAll(/^id: (\S+)$/gm)].map(([, id]) => id!);
    const resumed = await send('GET', '/mcp', { ...headers, 'last-event-id': second! });
    expect([...resumed.body.matchAll(/^id: (\S+)$/gm)].map(([, id]) => id)).toEqual([third, last]);
    expect(resumed.body).toContain('"two"');
    expect(resumed.body).not.toContain('inputSchema');
    const again = await send('GET', '/mcp', { ...headers, 'last-event-id': first! });
    expect(again.body).toContain('"one"');
    expect(await send('GET', '/mcp', { ...headers, 'last-event-id': '999' })).toMatchObject({ status: 400 });
  });

  it('a token has at most 100 sessions; a new one ends the session that was idle longest', async () => {
    const sessions = await Promise.all(Array.from({ length: 150 }, () => openSession('greedy')));
    expect(new Set(sessions).size).toBe(150);
    const headers = (id: string) => ({ ...accept, ...bearer('greedy'), 'mcp-session-id': id });
    const ask = async (id: string) => (await send('POST', '/mcp', headers(id), rpc('tools/list'))).status;
    const found = await Promise.all(sessions.map(ask));
    expect(found.filter((status) => status === 200)).toHaveLength(100);
  });

  it('a revoked token ends its WebSocket with the next message', async () => {
    const client = await connect('WebSocket', false, 'soon');
    const closed = new Promise<void>((resolve) => {
      client.onclose = resolve;
    });
    tokens.revoked.add('soon');
    const refused = expect(client.listTools()).rejects.toThrow();
    await closed;
    await refused;
  });
});

it('close ends open streams, sessions and WebSockets at once', async () => {
  const other = await openTestPort(tokens);
  const socket = new WebSocketTransport(`${other.origin}/mcp`, 'a');
  const closed = new Promise<void>((resolve) => {
    socket.onclose = resolve;
  });
  await socket.start();
  const opened = await fetch(`${other.origin}/mcp`, {
    method: 'POST',
    headers: { ...accept, ...bearer('a') },
    body: initialize,
  });
  const headers = { ...accept, ...bearer('a'), 'mcp-session-id': opened.headers.get('mcp-session-id')! };
  const stream = await fetch(`${other.origin}/mcp`, { headers });
  const ended = stream.text().catch(() => 'reset');
  await other.close();
  await Promise.all([closed, ended]);
  await expect(fetch(`${other.origin}/health`)).rejects.toThrow();
});

it('a port that another program uses is refused by name', async () => {
  const taken = Number(new URL(port.origin).port);
  await expect(openTestPort(tokens, { port: taken })).rejects.toMatchObject({
    code: 'unavailable',
    message: `another program listens on 127.0.0.1:${taken}`,
    hint: expect.stringContaining('--port'),
  });
});
