import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { actAsHeader } from '../lib/wire/api.ts';
import { encodeFrame, encodeJson, FrameReader } from '../lib/wire/stream.ts';
import { Fault } from '../model/fault.ts';
import { Client, readFrames } from './client.ts';

let root: string;
let home: string;
let server: http.Server;

/** The home is too deep for the path of a unix socket; the server listens by a descriptor of the folder. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'carrel-client-'));
  home = join(root, 'deep'.repeat(20), 'deeper'.repeat(20));
  mkdirSync(home, { recursive: true });
});

afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((done) => (server ? server.close(done) : done(null)));
  rmSync(root, { recursive: true, force: true });
});

async function serve(
  answer: http.RequestListener,
  upgrade?: (socket: NodeJS.WritableStream & NodeJS.ReadableStream) => void,
) {
  const { open } = await import('node:fs/promises');
  const folder = await open(home);
  rmSync(join(home, 'carrel.sock'), { force: true });
  server = http.createServer(answer);
  if (upgrade) server.on('upgrade', (_request, socket) => upgrade(socket));
  await new Promise<void>((done) => server.listen(`/proc/self/fd/${folder.fd}/carrel.sock`, done));
  await folder.close();
}

function json(response: http.ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

async function faultOf(work: Promise<unknown>): Promise<Fault> {
  const error = await work.then(
    () => new Error('no fault'),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Fault);
  return error as Fault;
}

test('call sends the name, the query and the body of a route', async () => {
  const seen: unknown[] = [];
  await serve(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    seen.push([request.method, request.url, body]);
    json(response, 200, { name: 'a' });
  });
  const client = new Client(home);
  expect(
    await client.call('POST /v1/sandboxes/{name}/stop', { path: { name: 'a/../b' }, body: { graceMs: 5 } }),
  ).toEqual({ name: 'a' });
  await client.call('DELETE /v1/sandboxes/{name}', { path: { name: 'a' }, query: { force: true } });
  await client.call('GET /v1/events', { query: { after: 3, limit: undefined } });
  expect(seen).toEqual([
    ['POST', '/v1/sandboxes/a%2F..%2Fb/stop', '{"graceMs":5}'],
    ['DELETE', '/v1/sandboxes/a?force=true', ''],
    ['GET', '/v1/events?after=3', ''],
  ]);
});

test('every request has the token and the user to act as, upgrades included', async () => {
  const seen: unknown[] = [];
  const note = ({ method, headers }: http.IncomingMessage) =>
    void seen.push([method, headers.authorization, headers[actAsHeader]]);
  await serve((request, response) => {
    note(request);
    json(response, 200, []);
  });
  server.on('upgrade', (request, socket) => {
    note(request);
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: carrel-stream\r\n\r\n');
  });
  const client = new Client(home, undefined, { token: 'carrel_t', actAs: 'bob' });
  await client.call('GET /v1/sandboxes');
  await client.call('POST /v1/users', { body: { name: 'eve' } });
  await client
    .frames('POST /v1/sandboxes/{name}/diff', { path: { name: 'a' }, body: {} })
    .next()
    .catch(() => {});
  await client.follow(0).next();
  (await client.upgrade('POST /v1/sandboxes/{name}/exec', { name: 'a' })).destroy();
  const methods = ['GET', 'POST', 'POST', 'GET', 'POST'];
  expect(seen).toEqual(methods.map((method) => [method, 'Bearer carrel_t', 'bob']));
  await new Client(home).call('GET /v1/sandboxes');
  expect(seen.at(-1)).toEqual(['GET', undefined, undefined]);
});

test('a client of a shared socket never starts a daemon, and names the socket if none listens', async () => {
  await serve((_request, response) => json(response, 200, []));
  expect(await new Client({ socket: join(home, 'carrel.sock') }).call('GET /v1/sandboxes')).toEqual([]);
  for (const socket of [
    join(home, 'other.sock'),
    join(home, 'absent', 'x.sock'),
    join(home, 'carrel.sock', 'x.sock'),
  ]) {
    const fault = await faultOf(new Client({ socket }).call('GET /v1/sandboxes'));
    expect(fault.toJSON()).toMatchObject({ code: 'unavailable', message: `no daemon listens at ${socket}` });
    expect(fault.hint).toContain('CARREL_SOCKET');
  }
});

test('a refusal is thrown as the Fault that the daemon sent', async () => {
  await serve((_request, response) => json(response, 409, { code: 'conflict', message: 'a is there', hint: 'rm' }));
  const fault = await faultOf(new Client(home).call('POST /v1/sandboxes', { body: {} }));
  expect(fault.toJSON()).toEqual({ code: 'conflict', message: 'a is there', hint: 'rm' });
});

test.each([
  ['a refusal without a reason', 500, '{}'],
  ['an answer that is not JSON', 200, '<html>'],
])('%s is an internal Fault', async (_what, status, body) => {
  await serve((_request, response) => response.writeHead(status).end(body));
  expect((await faultOf(new Client(home).call('GET /v1/status'))).code).toBe('internal');
});

test('a call without a daemon, or without a home, is unavailable', async () => {
  expect((await faultOf(new Client(home).call('GET /v1/status'))).code).toBe('unavailable');
  expect((await faultOf(new Client(join(home, 'absent')).call('GET /v1/status'))).code).toBe('unavailable');
});

test('a daemon that is absent is started once, and then gets the call', async () => {
  let starts = 0;
  const client = new Client(home, async () => {
    starts += 1;
    await serve((_request, response) => json(response, 200, []));
  });
  expect(await client.call('GET /v1/sandboxes')).toEqual([]);
  expect(await client.call('GET /v1/sandboxes')).toEqual([]);
  expect(starts).toBe(1);
});

test('a request that only reads is retried with a new daemon when its daemon dies', async () => {
  let requests = 0;
  await serve((request) => {
    requests += 1;
    server.close();
    request.socket.destroy();
  });
  const client = new Client(home, () => serve((_request, response) => json(response, 200, [])));
  expect(await client.call('GET /v1/sandboxes')).toEqual([]);
  expect(requests).toBe(1);
});

test('a request that only reads is sent at most three times', async () => {
  let requests = 0;
  await serve((request) => {
    requests += 1;
    request.socket.destroy();
  });
  expect((await faultOf(new Client(home).call('GET /v1/sandboxes'))).code).toBe('unavailable');
  expect(requests).toBe(3);
});

test('a request that changes something is sent once, and the error says how to find out whether it was done', async () => {
  let requests = 0;
  await serve((request) => {
    requests += 1;
    request.socket.destroy();
  });
  const client = new Client(home, () => Promise.reject(new Error('must not start')));
  const fault = await faultOf(client.call('POST /v1/sandboxes/{name}/start', { path: { name: 'a' } }));
  expect([fault.code, fault.hint]).toEqual(['unavailable', expect.stringContaining('carrel audit')]);
  expect(requests).toBe(1);
});

test('a time-out ends a call with timeout, and an abort with cancelled', async () => {
  await serve(() => {});
  const client = new Client(home);
  expect((await faultOf(client.call('GET /v1/status', { signal: AbortSignal.timeout(1) }))).code).toBe('timeout');
  const abort = new AbortController();
  const waiting = faultOf(client.call('GET /v1/status', { signal: abort.signal }));
  abort.abort();
  expect((await waiting).code).toBe('cancelled');
});

test('an upgrade returns the socket, with frames that came with the answer', async () => {
  await serve(
    () => {},
    (socket) => {
      const head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: carrel-stream\r\n\r\n';
      socket.write(Buffer.concat([Buffer.from(head), encodeFrame('stdout', Buffer.from('early'))]));
      const reader = new FrameReader();
      socket.on('data', (chunk: Buffer) => {
        for (const frame of reader.push(chunk)) socket.write(encodeFrame('stderr', frame.payload));
        socket.end(encodeJson('exit', { exitCode: 3 }));
      });
    },
  );
  const socket = await new Client(home).upgrade('POST /v1/sandboxes/{name}/exec', { name: 'a' });
  socket.write(encodeJson('request', { command: ['x'] }));
  const seen: string[] = [];
  for await (const frame of readFrames(socket)) seen.push(`${frame.type} ${frame.payload}`);
  expect(seen).toEqual(['stdout early', 'stderr {"command":["x"]}', 'exit {"exitCode":3}']);
});

test('an upgrade that is refused is a Fault', async () => {
  await serve(
    () => {},
    (socket) => {
      const body = JSON.stringify({ code: 'not_found', message: 'no a' });
      socket.end(`HTTP/1.1 404 Not Found\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
    },
  );
  expect((await faultOf(new Client(home).upgrade('GET /v1/sandboxes/{name}/attach', { name: 'a' }))).code).toBe(
    'not_found',
  );
});

test('logs are frames, and a fault frame among them is thrown', async () => {
  await serve((_request, response) => {
    const frame = encodeFrame('stdout', Buffer.from('split'));
    response.write(frame.subarray(0, 3));
    response.write(frame.subarray(3));
    response.end(encodeJson('fault', { code: 'corrupt', message: 'the log is damaged' }));
  });
  const seen: string[] = [];
  const read = async () => {
    for await (const frame of new Client(home).frames('GET /v1/sandboxes/{name}/logs', { path: { name: 'a' } })) {
      seen.push(frame.payload.toString());
    }
  };
  expect((await faultOf(read())).code).toBe('corrupt');
  expect(seen).toEqual(['split']);
});

test('an answer that is not a framed stream is refused', async () => {
  await serve((_request, response) => response.end('HTTP is not frames'));
  const frames = new Client(home).frames('GET /v1/sandboxes/{name}/logs', { path: { name: 'a' } });
  expect((await faultOf(frames.next())).code).toBe('internal');
});

test('follow reads events with comments, split characters and both kinds of line ends', async () => {
  await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const bytes = Buffer.from(
      ': hi\n\nid: 1\ndata: {"seq":1,"type":"é"}\n\nevent: x\r\ndata:{"seq":\r\ndata: 2}\r\n\r\n',
    );
    const middle = bytes.indexOf(0xc3) + 1;
    response.write(bytes.subarray(0, middle));
    response.end(bytes.subarray(middle));
  });
  const seen: unknown[] = [];
  for await (const event of new Client(home).follow(0)) seen.push(event);
  expect(seen).toEqual([{ seq: 1, type: 'é' }, { seq: 2 }]);
});
