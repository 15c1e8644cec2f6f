import { once } from 'node:events';
import {
  createServer as createHttpServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect as connectPlain, createServer, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Forwarding, host, real } from '../../../../test/fixtures/forwarding.ts';
import { Door } from '../../../../test/fixtures/service.ts';

let to: Forwarding;

beforeEach(async () => {
  to = await Forwarding.open();
});
afterEach(() => to.dispose());

describe('a response', () => {
  it('is passed on unchanged: status, headers, body and each cookie', async () => {
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

  it.each([
    ['as it is', 'the-real-one'],
    ['after other words', 'Bearer the-real-one; more'],
    ['in base64', Buffer.from('user:the-real-one').toString('base64')],
    ['percent-encoded', 'https://x.org/?key=the%2Dreal-one'],
  ])('whose head contains the key is not passed on: %s', async (_, value) => {
    to.answer = (_, response) => void response.writeHead(200, { 'x-echo': value }).end('body');
    const response = await fetch(to.url);
    expect([response.status, response.headers.get('x-echo')]).toEqual([502, null]);
    expect(await response.text()).toContain('sent the key back in the head of its answer');
  });

  it('that redirects is passed on, and the proxy does not follow it', async () => {
    to.answer = (_, response) => void response.writeHead(307, { location: 'https://other.org/x' }).end();
    const response = await fetch(to.url, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([307, 'https://other.org/x']);
    expect(to.received).toHaveLength(1);
  });

  it('to HEAD or with status 204 has no body', async () => {
    to.answer = (_, response) => void response.writeHead(200, { 'content-length': '5' }).end();
    const response = await fetch(to.url, { method: 'HEAD' });
    expect([response.headers.get('content-length'), await response.text()]).toEqual(['5', '']);
    to.answer = (_, response) => void response.writeHead(204).end();
    expect((await fetch(to.url)).status).toBe(204);
  });

  it('that is a stream arrives piece by piece, as it is sent', async () => {
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

  it('is sent without delay: Nagle’s algorithm is off on both connections', async () => {
    const setNoDelay = Socket.prototype.setNoDelay;
    const ports: (number | undefined)[] = [];
    const spy = vi.spyOn(Socket.prototype, 'setNoDelay').mockImplementation(function (this: Socket, noDelay) {
      if (noDelay !== false) ports.push(this.localPort, this.remotePort);
      return setNoDelay.call(this, noDelay);
    });
    expect(await to.raw('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toContain('hello');
    spy.mockRestore();
    expect(ports).toEqual(expect.arrayContaining([to.port, to.service.port]));
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

  it('may come before the end of the request, and the next request on the connection is served', async () => {
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

  it('that breaks off is an error for the client, too', async () => {
    to.answer = (_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('part', () => response.destroy());
    };
    await expect(fetch(to.url).then((response) => response.text())).rejects.toThrow();
  });
});

describe('when one side goes away', () => {
  it('the request to the service is closed when the client goes, before and during the response', async () => {
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

  it('the request to the service is cut when the client goes in the middle of it', async () => {
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

  it('a slow reader slows the service down, and the proxy does not buffer the rest', async () => {
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
  it('whose certificate is not trusted gets no request', async () => {
    await to.reopen({ roots: [] });
    const response = await fetch(to.url);
    expect([response.status, await response.json()]).toEqual([
      502,
      {
        type: 'error',
        error: {
          type: 'carrel_unavailable',
          message: expect.stringMatching(
            `no trusted connection to ${host}: \\w+\\. hint: .*\`authorities:\` in config\\.yaml`,
          ),
        },
      },
    ]);
    expect(to.received).toEqual([]);
  });

  it('without TLS gets the key if the credential names http; otherwise the client gets a hint', async () => {
    const got: IncomingMessage['headers'][] = [];
    const plain = createHttpServer((request, response) => {
      got.push(request.headers);
      response.end('plain');
    }).listen(0, '127.0.0.1');
    await once(plain, 'listening');
    const { port } = plain.address() as AddressInfo;
    for (const [change, expected] of [
      [{ scheme: 'http', port: 80 }, /^plain$/],
      [{ port: 4000 }, /no trusted connection.*hint: If it speaks HTTP without TLS.* http:\/\/api\.example\.org:4000/],
    ] as const) {
      const door = await Door.open(to.credential(change), port);
      expect(await (await fetch(door.url, { headers: { authorization: 'mine' } })).text()).toMatch(expected);
      await door.dispose();
    }
    expect(got).toEqual([expect.objectContaining({ authorization: real, host })]);
    plain.closeAllConnections();
    plain.close();
  });

  it('that does not answer gives 502 after a time-out, and a client without a handshake is closed', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const silent = createServer().listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const door = await Door.open(to.credential(), (silent.address() as AddressInfo).port);
      const response = fetch(door.url);
      const [accepted] = (await once(silent, 'connection')) as [Socket];
      await once(accepted, 'data');
      vi.advanceTimersByTime(15_001);
      expect([(await response).status, await (await response).text()]).toEqual([
        502,
        expect.stringContaining('too long'),
      ]);
      await door.dispose();
      silent.close();
      await to.reopen({}, true);
      const client = connectPlain(to.port, '127.0.0.1');
      client.on('error', () => {});
      client.write('\x16');
      await once(client, 'connect');
      // The limit begins when the first byte has come.
      for (; !client.closed; await new Promise(setImmediate)) vi.advanceTimersByTime(15_001);
    } finally {
      vi.useRealTimers();
    }
  });

  it('whose answer is not HTTP gives 502', async () => {
    to.service.server.removeAllListeners('request');
    to.service.server.on('request', (request: IncomingMessage) => {
      request.socket.end('HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n');
    });
    expect((await fetch(to.url)).status).toBe(502);
  });

  it('whose certificate is for another name gets no request', async () => {
    await to.reopen({ host: 'other.example.org' });
    expect((await fetch(to.url)).status).toBe(502);
    expect(to.received).toEqual([]);
  });

  it('that does not speak TLS gets no key, and the client gets 502', async () => {
    const received: Buffer[] = [];
    const plain = await Door.open(to.credential(), to.port);
    to.service.server.on('connection', (socket: Socket) => socket.on('data', (chunk) => received.push(chunk)));
    const response = await fetch(plain.url);
    expect(response.status).toBe(502);
    await plain.dispose();
    expect(Buffer.concat(received).toString('latin1')).not.toContain('the-real-one');
  });

  it('that cannot be reached gives 502 without the key in the message', async () => {
    to.service.server.close();
    const response = await fetch(to.url);
    const body = await response.text();
    expect([response.status, body.includes('the-real-one')]).toEqual([502, false]);
    expect(JSON.parse(body).error).toMatchObject({
      type: 'carrel_unavailable',
      message: expect.stringContaining(`no connection to ${host}`),
    });
  });
});
