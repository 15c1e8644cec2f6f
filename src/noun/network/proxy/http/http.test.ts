import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { TestProxy, Upstream } from '../../../../../test/fixtures/proxy.ts';
import { soon } from '../../../../../test/fixtures/soon.ts';

const MiB = 1024 * 1024;
let open: { close(): void }[] = [];
afterEach(() => {
  for (const one of open) one.close();
  open = [];
});

async function setup(answer: (socket: Socket, received: () => string) => void) {
  const upstream = await Upstream.open(answer);
  const place = `127.0.0.1:${upstream.port}`;
  const proxy = await TestProxy.open({ allow: [place] });
  open.push(upstream, proxy);
  const ask = (method: string, path: string, ...more: string[]) =>
    [`${method} http://${place}${path} HTTP/1.1`, `Host: ${place}`, ...more, '', ''].join('\r\n');
  return { upstream, proxy, ask };
}

/** Answers each connection by the path that is requested on it. */
async function serving(answer: (path: string, socket: Socket) => void) {
  const upstream = await Upstream.open((socket, received) => {
    socket.once('data', () => answer(received().split(' ')[1]!, socket));
  });
  const proxy = await TestProxy.open({ allow: [`127.0.0.1:${upstream.port}`] });
  open.push(upstream, proxy);
  return { proxy, port: upstream.port };
}

/** Fetches a body and yields to the event loop after each piece. */
async function fetchSlowly(proxy: TestProxy, agent: Agent, port: number, path: string): Promise<Buffer> {
  const options = { agent, host: '127.0.0.1', port: proxy.port, path: `http://127.0.0.1:${port}${path}` };
  const request = get({ ...options, headers: { host: `127.0.0.1:${port}` } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) {
    chunks.push(chunk as Buffer);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return Buffer.concat(chunks);
}

async function drained(socket: Socket): Promise<number> {
  let bytes = 0;
  try {
    for await (const chunk of socket) bytes += (chunk as Buffer).length;
  } catch {
    // The connection was cut off: the bytes that arrived count.
  }
  return bytes;
}

/** Answers a request for /last with `last`, and any other request with the text. */
function answering(text: string) {
  return (socket: Socket, received: () => string) => {
    socket.once('data', () => {
      const isLast = received().startsWith('GET /last');
      socket.write(isLast ? 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlast' : text);
    });
  };
}

describe('an answer', () => {
  it.each([
    ['with a length', 'GET', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', /200 OK(.|\r\n)*hello$/],
    ['to HEAD', 'HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n', /200 OK(.|\r\n)*Content-Length: 5(.|\r\n)*$/],
    ['of 204', 'GET', 'HTTP/1.1 204 No Content\r\n\r\n', /204 No Content/],
    ['of 304', 'GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n', /304 Not Modified/],
    ['after 100', 'GET', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', /200 OK/],
    [
      'after 103',
      'GET',
      'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
      /200 OK/,
    ],
    [
      'in chunks with extensions and a trailer',
      'GET',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\n',
      /200 OK(.|\r\n)*3\r\nabc\r\n0\r\n\r\n/,
    ],
  ])('%s passes, and the next request on the connection is answered', async (_, method, text, expected) => {
    const { proxy, ask } = await setup(answering(text));
    const all = await proxy.exchange(ask(method, '/'), ask('GET', '/last', 'Connection: close'));
    const last = all.lastIndexOf('HTTP/1.1 200 OK');
    expect(all.slice(0, last)).toMatch(expected);
    expect(all.slice(last)).toMatch(/last$/);
  });

  it.each([
    ['goes on listening', (socket: Socket) => void socket.pause()],
    ['takes the rest', (socket: Socket) => void socket.resume()],
    ['ends', (socket: Socket) => void socket.end()],
  ])(
    'that begins before the request has ended arrives completely when the server %s, and the next request is answered',
    async (_, then) => {
      const { proxy, ask } = await setup((socket, received) => {
        socket.once('data', () => {
          if (received().startsWith('GET /last')) {
            socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlast');
            return;
          }
          socket.write('HTTP/1.1 413 Content Too Large\r\nContent-Length: 9\r\n\r\ntoo large');
          then(socket);
        });
      });
      const socket = proxy.connect();
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk;
      });
      socket.write(ask('POST', '/', `Content-Length: ${16 * MiB}`));
      socket.write(Buffer.alloc(MiB));
      await soon(() => expect(received).toMatch(/413(.|\r\n)*too large$/));
      socket.write(Buffer.alloc(15 * MiB));
      socket.write(ask('GET', '/last', 'Connection: close'));
      await once(socket, 'end');
      expect(received).toMatch(/too large(.|\r\n)*200 OK(.|\r\n)*last$/);
      socket.destroy();
    },
  );

  it('to a client that has gone is not requested from the server', async () => {
    const { proxy, upstream, ask } = await setup(() => {});
    const { attached } = proxy;
    const dial = attached.dial.bind(attached);
    attached.dial = async (...args) => {
      const dialled = await dial(...args);
      client.destroy();
      await soon(() => expect(proxy.connections).toBe(0));
      return dialled;
    };
    const client = proxy.connect();
    client.write(ask('GET', '/'));
    await soon(async () => expect((await proxy.record()).at(-1)).toMatchObject({ reason: 'the client disconnected' }));
    expect(upstream.text).toBe('');
  });

  it('that breaks off is not passed on as complete', async () => {
    const { proxy, ask } = await setup((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'));
    });
    const all = await proxy.exchange(ask('GET', '/', 'Connection: close')).catch((error: Error) => error.message);
    expect(all).not.toMatch(/0\r\n\r\n$/);
    expect((await proxy.record()).at(-1)).toMatchObject({ reason: 'the answer was cut off' });
  });
});

describe('a large body', () => {
  const content = randomBytes(20 * MiB + 7);
  /**
   * Divides the content into chunks of odd sizes, some with extensions, so that not all bytes are passed on unchanged.
   */
  const inChunks = (bytes: Buffer) => {
    const pieces: Buffer[] = [];
    for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7 + 3) % 600_000) {
      size ||= 1;
      const piece = bytes.subarray(at, at + size);
      pieces.push(Buffer.from(`${piece.length.toString(16)}${size % 5 === 0 ? ';a=b' : ''}\r\n`), piece, crlf);
    }
    return Buffer.concat([...pieces, Buffer.from('0\r\nX: y\r\n\r\n')]);
  };
  const crlf = Buffer.from('\r\n');
  const sized = { header: `Content-Length: ${content.length}`, body: content };
  const chunked = { header: 'Transfer-Encoding: chunked', body: inChunks(content) };
  const headOf = (header: string) => `HTTP/1.1 200 OK\r\n${header}\r\n\r\n`;

  it.each([
    ['with a length', sized],
    ['in chunks', chunked],
  ])('%s arrives whole, however slowly it is read, is counted, and the next request is answered', async (_, answer) => {
    const { proxy, port } = await serving((path, socket) => {
      socket.write(headOf(path === '/last' ? 'Content-Length: 4' : answer.header));
      socket.end(path === '/last' ? 'last' : Buffer.concat([answer.body, Buffer.from(headOf('Content-Length: 0'))]));
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const got = await fetchSlowly(proxy, agent, port, '/');
    expect(got.equals(content)).toBe(true);
    expect(String(await fetchSlowly(proxy, agent, port, '/last'))).toBe('last');
    expect(proxy.connections).toBe(1);
    agent.destroy();
    await soon(async () => {
      const ended = (await proxy.record()).filter(({ durationMs }) => durationMs !== undefined);
      expect(ended.map(({ receivedBytes, reason }) => [receivedBytes, reason])).toEqual([
        [content.length, null],
        [4, null],
      ]);
    });
  });

  it('is cut off at once when the rules no longer allow it', async () => {
    const { proxy, ask } = await setup((socket) => {
      socket.once('data', () => socket.write(Buffer.concat([Buffer.from(headOf(sized.header)), content])));
    });
    const client = proxy.connect();
    client.write(ask('GET', '/'));
    await once(client, 'readable');
    proxy.allow();
    await expect(drained(client)).resolves.toBeLessThan(content.length);
    expect((await proxy.record()).at(-1)).toMatchObject({ reason: 'not allowed any more' });
  });

  it('is cut off at the server when the client goes away', async () => {
    const gone = vi.fn();
    const { proxy, ask } = await setup((socket) => {
      socket.once('data', () => socket.write(Buffer.concat([Buffer.from(headOf(sized.header)), content])));
      socket.on('close', gone);
    });
    const client = proxy.connect();
    client.write(ask('GET', '/'));
    await once(client, 'readable');
    client.destroy();
    await soon(() => expect(gone).toHaveBeenCalled());
    expect((await proxy.record()).at(-1)).toMatchObject({ reason: 'the client disconnected' });
  });

  it.each([
    ['ends', (socket: Socket) => void socket.end()],
    ['breaks off', (socket: Socket) => void socket.resetAndDestroy()],
    ['goes on with what is no chunk', (socket: Socket) => void socket.write('no chunk\r\n')],
  ])('of a server that %s before its end is not passed on as complete', async (_, then) => {
    const { proxy, ask } = await setup((socket) => {
      socket.once('data', () => {
        socket.write(`${headOf('Transfer-Encoding: chunked')}5\r\nhello\r\n`, () => then(socket));
      });
    });
    expect(await proxy.exchange(ask('GET', '/')).catch(() => '')).not.toMatch(/0\r\n\r\n$/);
    await soon(async () => expect((await proxy.record()).at(-1)).toMatchObject({ reason: 'the answer was cut off' }));
  });

  it('of events is passed on event by event, as they come', async () => {
    const { proxy, ask } = await setup((socket) => {
      socket.once('data', () => socket.write(`${headOf('Transfer-Encoding: chunked')}6\r\nfirst\n\r\n`));
      open.push({ close: () => socket.destroy() });
    });
    const client = proxy.connect();
    client.write(ask('GET', '/'));
    let received = '';
    client.on('data', (chunk) => {
      received += chunk;
    });
    await soon(() => expect(received).toMatch(/6\r\nfirst\n\r\n$/));
    client.destroy();
  });
});

describe('a request for a WebSocket', () => {
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket'];

  it('opens the connection when the server agrees, also for bytes that the client sent too early', async () => {
    const agreed = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nwelcome';
    const { proxy, ask } = await setup((socket, received) => {
      socket.once('data', () => socket.write(agreed));
      socket.on('data', () => received().endsWith('early') && socket.end(', goodbye'));
    });
    expect(await proxy.exchange(`${ask('GET', '/', ...upgrade)}early`)).toMatch(
      /^HTTP\/1\.1 101 (.|\r\n)*\r\n\r\nwelcome, goodbye$/,
    );
  });

  it('does not become a tunnel if the server refuses: no request passes unparsed', async () => {
    const { proxy, upstream, ask } = await setup((socket) => {
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno'));
    });
    const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n';
    expect(await proxy.exchange(`${ask('GET', '/', ...upgrade)}${smuggled}`)).toMatch(/^HTTP\/1\.1 200 (.|\r\n)*no$/);
    expect(upstream.text).not.toContain('smuggled');
    expect((await proxy.record()).at(-1)).toMatchObject({ durationMs: expect.any(Number) });
  });

  it.each(['Content-Length: 5', 'Transfer-Encoding: chunked'])('with a body (%s) is refused', async (header) => {
    const { proxy, upstream, ask } = await setup(() => {});
    expect(await proxy.exchange(`${ask('GET', '/', ...upgrade, header)}5\r\nhello\r\n0\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 400 /,
    );
    expect(upstream.connections).toBe(0);
  });
});
