import { once } from 'node:events';
import { type Duplex, duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { type Handshake, isWebSocketRequest, passHandshake } from './websocket.ts';

const accept = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Name: café\r\n\r\n';

interface Ends {
  /** The end that the client of the proxy holds. */
  readonly client: Duplex;
  /** The end that the server holds. */
  readonly server: Duplex;
  /** The proxy's ends of the two connections. */
  readonly proxy: { readonly client: Duplex; readonly server: Duplex };
  readonly settled: Promise<readonly [kind: string, value: unknown]>;
}

function begin(options: Partial<Handshake> = {}): Ends {
  const [client, proxyClient] = duplexPair();
  const [proxyServer, server] = duplexPair();
  const settled = new Promise<readonly [string, unknown]>((resolve) => {
    passHandshake({
      request: { method: 'GET', path: '/live', headers: ['Host', 'a.test', 'Sec-WebSocket-Key', 'k'] },
      client: proxyClient,
      server: proxyServer,
      responseHeaders: () => ['X-Kept', 'café'],
      opened: (first) => resolve(['opened', first.toString()]),
      declined: (response) => resolve(['declined', response]),
      failed: (error) => resolve(['failed', error]),
      ...options,
    });
  });
  return { client, server, proxy: { client: proxyClient, server: proxyServer }, settled };
}

async function heardBy(stream: Duplex): Promise<string> {
  const [chunk] = (await once(stream, 'data')) as [Buffer];
  return chunk.toString('latin1');
}

describe('isWebSocketRequest', () => {
  it.each([
    [true, ['Upgrade', 'websocket']],
    [true, ['upgrade', 'WebSocket', 'Content-Length', '0']],
    [false, []],
    [false, ['Upgrade', 'h2c']],
    [false, ['Upgrade', 'websocket', 'Upgrade', 'h2c']],
    [false, ['Upgrade', 'websocket', 'Content-Length', '5']],
    [false, ['Upgrade', 'websocket', 'Transfer-Encoding', 'chunked']],
  ])('is %s for %j', (expected, rawHeaders) => {
    expect(isWebSocketRequest({ rawHeaders })).toBe(expected);
  });
});

describe('passHandshake', () => {
  it('sends the request with the headers of an upgrade and without a body', async () => {
    const { server } = begin();
    expect(await heardBy(server)).toBe(
      'GET /live HTTP/1.1\r\nHost: a.test\r\nSec-WebSocket-Key: k\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    );
  });

  it('passes the head of status 101 in Latin-1 and reports the first bytes of the server', async () => {
    const { client, server, settled } = begin();
    const heard = heardBy(client);
    server.write(Buffer.from(`${accept}first`, 'latin1'));
    expect(await settled).toEqual(['opened', 'first']);
    expect(await heard).toBe(
      'HTTP/1.1 101 Switching Protocols\r\nX-Kept: café\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    );
  });

  it('passes the head of any other response and leaves its body to the caller', async () => {
    const { client, server, settled } = begin();
    const heard = heardBy(client);
    server.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
    const [kind, response] = await settled;
    expect(kind).toBe('declined');
    expect(await text(response as Duplex)).toBe('no');
    expect(await heard).toBe('HTTP/1.1 403 Forbidden\r\nX-Kept: café\r\nConnection: close\r\n\r\n');
  });

  it('writes nothing to the client when the headers of the response are refused', async () => {
    const refused = new Error('refused');
    const { client, server, settled } = begin({
      responseHeaders: () => {
        throw refused;
      },
    });
    server.write(Buffer.from(accept, 'latin1'));
    expect(await settled).toEqual(['failed', refused]);
    expect(client.readableLength).toBe(0);
  });

  it('fails when the server closes before it answers', async () => {
    const { server, settled } = begin();
    server.resume().end();
    expect(await settled).toMatchObject(['failed', { code: 'ECONNRESET' }]);
  });

  it('closes the server when the client closes', async () => {
    const { proxy } = begin();
    const closed = once(proxy.server, 'close');
    proxy.client.destroy();
    await closed;
  });
});
