import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect as connectPlain, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Forwarding, host, real } from '../../../test/fixtures/forwarding.ts';
import { Door } from '../../../test/fixtures/service.ts';

let to: Forwarding;

beforeEach(async () => {
  to = await Forwarding.open();
});
afterEach(() => to.dispose());

const get = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';

describe('a request', () => {
  it('has the header, and whatever else the client said', async () => {
    const response = await fetch(`${to.url}/v1/x?y=1`, { method: 'POST', body: 'ping', headers: { 'x-other': 'o' } });
    expect([response.status, await response.text()]).toEqual([200, 'hello']);
    const { request, body } = to.received[0]!;
    expect([request.method, request.url, await body]).toEqual(['POST', '/v1/x?y=1', 'ping']);
    expect([to.seen('authorization'), to.seen('host'), to.seen('x-other')]).toEqual([[real], [host], ['o']]);
  });

  it('names the port of the host where that is an unusual one', async () => {
    await to.reopen({ port: 8443 });
    await fetch(to.url);
    expect(to.seen('host')).toEqual([`${host}:8443`]);
  });

  it.each([
    'Authorization: Bearer mine',
    'AUTHORIZATION: Bearer mine\r\nauthorization: Bearer mine',
    'aUTHORIZATION:Bearer mine',
    'authorization:',
    'Connection: close, authorization\r\nAuthorization: Bearer mine',
  ])('does not get through what a client says in that header: %j', async (lines) => {
    await to.raw(`${get}${lines}\r\n\r\n`);
    expect(to.seen('authorization')).toEqual([real]);
  });

  it('does not get through what servers could take for that header, nor other keys', async () => {
    await to.reopen({ header: 'x-api-key', value: 'real', drops: ['authorization'] });
    await to.raw(`${get}X_Api_Key: a\r\nx_api-key: b\r\nX-API-KEY: c\r\nAuthorization: d\r\n\r\n`);
    const { rawHeaders } = to.received[0]!.request;
    expect(rawHeaders.filter((word) => /key|auth/i.test(word))).toEqual(['x-api-key']);
    expect(to.seen('x-api-key')).toEqual(['real']);
  });

  it('does not get through headers about the connection with us, nor trailers', async () => {
    const lines = [
      'Proxy-Authorization: x',
      'Keep-Alive: x',
      'TE: trailers',
      'X-Named: x',
      'Connection: x-named, close',
    ];
    const chunks = '4\r\nping\r\n0\r\nauthorization: Bearer mine\r\n\r\n';
    await to.raw(`POST / HTTP/1.1\r\nHost: x\r\n${lines.join('\r\n')}\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`);
    const { request, body } = to.received[0]!;
    expect(await body).toBe('ping');
    expect(request.trailers).toEqual({});
    for (const name of ['proxy-authorization', 'te', 'x-named']) expect(to.seen(name)).toEqual([]);
    expect(to.seen('connection')).toEqual(['keep-alive']);
  });

  it.each([
    ['with two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nping'],
    [
      'with a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['with a disguised encoding', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
    ['with an encoding after chunked', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, x\r\n\r\n0\r\n\r\n'],
    ['with a space before the colon', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n'],
    ['with a folded header', 'GET / HTTP/1.1\r\nHost: x\r\nX-A: b\r\n c: d\r\n\r\n'],
    ['with a bare newline', 'GET / HTTP/1.1\nHost: x\n\n'],
    ['with a NUL byte', 'GET / HTTP/1.1\r\nHost: x\r\nX-A: a\0b\r\n\r\n'],
    [
      'with a chunk size that is none',
      'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0x4\r\nping\r\n0\r\n\r\n',
    ],
    ['for another host', 'GET https://other.org/ HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['for another host by its authority', 'GET other.org/ HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['for a tunnel', 'CONNECT other.org:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['without a host', 'GET / HTTP/1.1\r\n\r\n'],
    [
      'for another protocol',
      'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n',
    ],
    ['of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['with too long headers', `GET / HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(70_000)}\r\n\r\n`],
  ])('is refused %s', async (_, bytes) => {
    expect(await to.raw(bytes)).toMatch(/^$|^HTTP\/1\.1 (4\d\d|501) /);
    expect(to.received).toEqual([]);
  });

  it('that is pipelined is a request of its own, with the header', async () => {
    await to.raw(
      `GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\nAuthorization: mine\r\nConnection: close\r\n\r\n`,
    );
    expect(to.received.map(({ request }) => [request.url, request.headers.authorization])).toEqual([
      ['/1', real],
      ['/2', real],
    ]);
  });

  it('without a body says so', async () => {
    await to.raw(`POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect([to.seen('content-length'), to.seen('transfer-encoding')]).toEqual([['0'], []]);
    await to.raw(`GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect([to.seen('content-length'), to.seen('transfer-encoding')]).toEqual([[], []]);
  });

  it('after another goes the same way, without a new connection', async () => {
    const agent = new Agent({ keepAlive: true });
    for (const path of ['/1', '/2', '/3']) {
      const [response] = await once(httpRequest({ port: to.port, path, agent }).end(), 'response');
      await text(response);
    }
    agent.destroy();
    expect([to.received.length, to.service.connections]).toEqual([3, 1]);
  });
});

describe('a response', () => {
  it('is passed on as it is: status, headers, body, cookies each', async () => {
    to.answer = (_, response) =>
      void response
        .writeHead(418, 'Short', [
          ['Set-Cookie', 'a=1'],
          ['Set-Cookie', 'b=2'],
          ['X-Y', 'z'],
        ])
        .end('body');
    const response = await fetch(to.url);
    expect([response.status, response.statusText, await response.text()]).toEqual([418, 'Short', 'body']);
    expect([response.headers.getSetCookie(), response.headers.get('x-y')]).toEqual([['a=1', 'b=2'], 'z']);
  });

  it('that points elsewhere is for the client to follow', async () => {
    to.answer = (_, response) => void response.writeHead(307, { location: 'https://other.org/x' }).end();
    const response = await fetch(to.url, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([307, 'https://other.org/x']);
    expect(to.received).toHaveLength(1);
  });

  it('has no body where there is none', async () => {
    to.answer = (_, response) => void response.writeHead(200, { 'content-length': '5' }).end();
    const response = await fetch(to.url, { method: 'HEAD' });
    expect([response.headers.get('content-length'), await response.text()]).toEqual(['5', '']);
    to.answer = (_, response) => void response.writeHead(204).end();
    expect((await fetch(to.url)).status).toBe(204);
  });

  it('comes byte by byte, as it is sent', async () => {
    let stream!: ServerResponse;
    to.answer = (_, response) => {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      stream.flushHeaders();
    };
    const response = await fetch(to.url);
    const reader = response.body!.getReader();
    for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
      stream.write(event);
      expect(Buffer.from((await reader.read()).value!).toString()).toBe(event);
    }
    stream.end();
    expect((await reader.read()).done).toBe(true);
  });

  it('is not held up: small pieces do not wait for each other to be acknowledged, which takes 40 ms', async () => {
    to.answer = (_, response) => {
      response.flushHeaders();
      response.end('data: 1\n\n');
    };
    const agent = new Agent({ keepAlive: true });
    const times: number[] = [];
    for (let n = 0; n < 20; n += 1) {
      const startMs = performance.now();
      const [response] = await once(httpRequest({ port: to.port, agent }).end(), 'response');
      await text(response);
      times.push(performance.now() - startMs);
    }
    agent.destroy();
    expect(Math.min(...times)).toBeLessThan(30);
  });

  it('can come while the request is still being sent', async () => {
    to.answer = (request, response) => {
      response.flushHeaders();
      request.on('data', (chunk: Buffer) => response.write(chunk));
      request.on('end', () => response.end());
    };
    const request = httpRequest({ port: to.port, method: 'POST', path: '/' });
    request.write('a');
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(String((await once(response, 'data'))[0])).toBe('a');
    request.end('b');
    expect(await text(response)).toBe('b');
  });

  it('may come before all of the request is there, and leaves the way free for the next', async () => {
    to.answer = (_, response) => void response.end('early');
    const size = 4 * 1024 ** 2;
    const socket = connectPlain(to.port, '127.0.0.1');
    for (let n = 0; n < 5; n += 1) {
      socket.write(`POST /${n} HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n`);
      socket.write(Buffer.alloc(size));
    }
    socket.write('GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect((await text(socket)).match(/early/g)).toHaveLength(6);
    expect(to.received.map(({ request }) => request.url)).toEqual(['/0', '/1', '/2', '/3', '/4', '/last']);
  });

  it('that breaks off breaks off for the client, too', async () => {
    to.answer = (_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('part', () => response.destroy());
    };
    await expect(fetch(to.url).then((response) => response.text())).rejects.toThrow();
  });
});

describe('when one side goes away', () => {
  it('the service hears that the client is gone, before and during the response', async () => {
    for (const begin of [() => {}, (response: ServerResponse) => void response.write('x')]) {
      const closed = new Promise<void>((resolve) => {
        to.answer = (_, response) => {
          response.once('close', resolve);
          begin(response);
          abort.abort();
        };
      });
      const abort = new AbortController();
      await fetch(to.url, { signal: abort.signal })
        .then((response) => response.text())
        .catch(() => {});
      await closed;
    }
  });

  it('the service hears that the client gave up in the middle of its request', async () => {
    const closed = new Promise((resolve) => {
      to.answer = (request) => void request.once('error', resolve);
    });
    const socket = connectPlain(to.port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\npart');
    while (to.received.length === 0) await new Promise(setImmediate);
    socket.destroy();
    await closed;
    expect(await to.received[0]!.body).toBe('cut off');
  });

  it('a slow reader holds the service up, and nothing is piled up here', async () => {
    const total = 64 * 1024 ** 2;
    let sent = 0;
    to.answer = (_, response) => {
      const piece = Buffer.alloc(1024 ** 2);
      const more = () => {
        while (sent < total) {
          sent += piece.length;
          if (!response.write(piece)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    };
    const request = httpRequest({ port: to.port }).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.pause();
    let before = -1;
    while (before !== sent) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(sent).toBeLessThan(total / 2);
    let bytes = 0;
    for await (const chunk of response) bytes += (chunk as Buffer).length;
    expect(bytes).toBe(total);
  });
});

describe('a host', () => {
  it('that nobody vouches for gets nothing', async () => {
    await to.reopen({ roots: [] });
    const response = await fetch(to.url);
    expect([response.status, await response.json()]).toEqual([
      502,
      {
        type: 'error',
        error: { type: 'carrel_unavailable', message: expect.stringContaining(`no trusted connection to ${host}`) },
      },
    ]);
    expect(to.received).toEqual([]);
  });

  it('that is another one than its certificate says gets nothing', async () => {
    await to.reopen({ host: 'other.example.org' });
    expect((await fetch(to.url)).status).toBe(502);
    expect(to.received).toEqual([]);
  });

  it('that does not speak TLS gets nothing', async () => {
    const heard: Buffer[] = [];
    const plain = await Door.open(to.credential(), to.port);
    to.service.server.on('connection', (socket: Socket) => socket.on('data', (chunk) => heard.push(chunk)));
    const response = await fetch(plain.url);
    expect(response.status).toBe(502);
    await plain.dispose();
    expect(Buffer.concat(heard).toString('latin1')).not.toContain('the-real-one');
  });

  it('that cannot be reached is told of without the key', async () => {
    to.service.server.close();
    const response = await fetch(to.url);
    const body = await response.text();
    expect([response.status, body.includes('the-real-one')]).toEqual([502, false]);
  });
});
