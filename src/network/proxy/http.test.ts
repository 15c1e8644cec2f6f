import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { TestProxy, Upstream } from '../../../test/fixtures/proxy.ts';

const MiB = 1024 * 1024;
let open: { close(): void }[] = [];
afterEach(() => {
  for (const one of open) one.close();
  open = [];
});

async function setup(answer: (socket: Socket, heard: () => string) => void) {
  const upstream = await Upstream.open(answer);
  const place = `127.0.0.1:${upstream.port}`;
  const proxy = await TestProxy.open({ allow: [place] });
  open.push(upstream, proxy);
  const ask = (method: string, path: string, ...more: string[]) =>
    [`${method} http://${place}${path} HTTP/1.1`, `Host: ${place}`, ...more, '', ''].join('\r\n');
  return { upstream, proxy, ask };
}

/** Answers a request to /last with an end, others by the text for it. */
function answering(text: string) {
  return (socket: Socket, heard: () => string) => {
    socket.once('data', () => {
      const isLast = heard().startsWith('GET /last');
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
    'that comes before all of its request arrives whole when the server %s, and the next is answered',
    async (_, then) => {
      const { proxy, ask } = await setup((socket, heard) => {
        socket.once('data', () => {
          if (heard().startsWith('GET /last')) {
            socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlast');
            return;
          }
          socket.write('HTTP/1.1 413 Content Too Large\r\nContent-Length: 9\r\n\r\ntoo large');
          then(socket);
        });
      });
      const socket = proxy.connect();
      let heard = '';
      socket.on('data', (chunk) => {
        heard += chunk;
      });
      socket.write(ask('POST', '/', `Content-Length: ${16 * MiB}`));
      socket.write(Buffer.alloc(MiB));
      await vi.waitFor(() => expect(heard).toMatch(/413(.|\r\n)*too large$/));
      socket.write(Buffer.alloc(15 * MiB));
      socket.write(ask('GET', '/last', 'Connection: close'));
      await once(socket, 'end');
      expect(heard).toMatch(/too large(.|\r\n)*200 OK(.|\r\n)*last$/);
      socket.destroy();
    },
  );

  it('to a client that has gone meanwhile is not waited for', async () => {
    const { proxy, upstream, ask } = await setup(() => {});
    const { attached } = proxy;
    const dial = attached.dial.bind(attached);
    attached.dial = async (...args) => {
      const dialled = await dial(...args);
      client.destroy();
      await vi.waitFor(() => expect(proxy.connections).toBe(0));
      return dialled;
    };
    const client = proxy.connect();
    client.write(ask('GET', '/'));
    await vi.waitFor(async () =>
      expect((await proxy.record()).at(-1)).toMatchObject({ reason: 'the client went away' }),
    );
    expect(upstream.text).toBe('');
  });

  it('that breaks off is not taken for a whole one', async () => {
    const { proxy, ask } = await setup((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'));
    });
    const all = await proxy.exchange(ask('GET', '/', 'Connection: close')).catch((error: Error) => error.message);
    expect(all).not.toMatch(/0\r\n\r\n$/);
    expect((await proxy.record()).at(-1)).toMatchObject({ reason: 'broken off' });
  });
});

describe('a request for a WebSocket', () => {
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket'];

  it('opens the way when the server agrees, for what was sent too early as well', async () => {
    const agreed = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nwelcome';
    const { proxy, ask } = await setup((socket, heard) => {
      socket.once('data', () => socket.write(agreed));
      socket.on('data', () => heard().endsWith('early') && socket.end(', goodbye'));
    });
    expect(await proxy.exchange(`${ask('GET', '/', ...upgrade)}early`)).toMatch(
      /^HTTP\/1\.1 101 (.|\r\n)*\r\n\r\nwelcome, goodbye$/,
    );
  });

  it('opens nothing when the server does not: no request follows that nobody reads', async () => {
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
