import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type ConnectionOptions, createServer, type Server, connect as tlsConnect } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hello } from '../../../../../test/fixtures/hello.ts';
import { TestProxy, Upstream } from '../../../../../test/fixtures/proxy.ts';
import { TestAuthority } from '../../../../../test/fixtures/service.ts';
import { soon } from '../../../../../test/fixtures/soon.ts';
import { kindOf } from './tunnel.ts';

const authority = new TestAuthority('good.test');
const trust = { ca: authority.certificate, servername: 'good.test' };
let server: Server;
let proxy: TestProxy;
let place: string;

async function serve(options: { ecdhCurve?: string; maxVersion?: 'TLSv1.2' } = {}): Promise<Server> {
  const made = createServer({ ...authority.tls('good.test'), ...options }, (socket) => void socket.end('secret hello'));
  made.on('tlsClientError', () => {});
  made.listen(0, '127.0.0.1');
  await once(made, 'listening');
  return made;
}

async function allowServer(made: Server): Promise<void> {
  server = made;
  place = `good.test:${(server.address() as AddressInfo).port}`;
  proxy.allow(place, `127.0.0.1:${(server.address() as AddressInfo).port}`);
}

beforeEach(async () => {
  proxy = await TestProxy.open({ allow: [], names: { 'good.test': ['127.0.0.1'] } });
});
afterEach(() => {
  proxy.close();
  server?.close();
});

/** Everything that the server sends through TLS in a tunnel. */
async function speak(to: string, options: ConnectionOptions): Promise<string> {
  const socket = tlsConnect({ socket: await proxy.tunnel(to), ...options });
  let received = '';
  for await (const chunk of socket) received += String(chunk);
  return received;
}

describe('TLS in a tunnel', () => {
  it.each([
    ['in the usual handshake', {}, {}],
    ['after the server requested a second hello', { ecdhCurve: 'P-521' }, { ecdhCurve: 'X25519:P-521' }],
    ['in TLS 1.2', { maxVersion: 'TLSv1.2' as const }, {}],
  ])('passes if its name is the requested one, %s', async (_, ofServer, ofClient) => {
    await allowServer(await serve(ofServer));
    expect(await speak(place, { ...trust, ...ofClient })).toBe('secret hello');
  });

  it('to another name is cut before a byte reaches the server', async () => {
    const quiet = await Upstream.open(() => {});
    proxy.allow(`good.test:${quiet.port}`, `127.0.0.1:${quiet.port}`);
    await expect(speak(`good.test:${quiet.port}`, { ...trust, servername: 'evil.test' })).rejects.toThrow(
      /alert|ECONNRESET|closed|disconnected/i,
    );
    expect(quiet.received).toEqual([]);
    expect((await proxy.record()).at(-1)).toMatchObject({
      decision: 'refuse',
      refusal: 'server_name',
      reason: 'the client names "evil.test" and not good.test',
    });
    quiet.close();
  });

  it('without a name is cut off, unless an address was requested', async () => {
    await allowServer(await serve());
    await expect(speak(place, { ...trust, servername: '' })).rejects.toThrow();
    const byAddress = place.replace('good.test', '127.0.0.1');
    const options = { ...trust, servername: '', checkServerIdentity: () => undefined };
    expect(await speak(byAddress, options)).toBe('secret hello');
  });

  it('is required on port 443: text is cut before it reaches the server', async () => {
    const quiet = await Upstream.open(() => {});
    proxy.allow('good.test:443', `good.test:${quiet.port}`, `127.0.0.1:${quiet.port}`);
    // The server listens on another port, because a test may not be able to use 443.
    const dial = proxy.attached.dial.bind(proxy.attached);
    proxy.attached.dial = (attempt, endpoint, rules) => dial(attempt, { ...endpoint, port: quiet.port }, rules);
    const socket = await proxy.tunnel('good.test:443');
    socket.write('GET / HTTP/1.1\r\nHost: good.test\r\n\r\n');
    socket.resume();
    await once(socket, 'close');
    expect(quiet.received).toEqual([]);
    expect((await proxy.record()).at(-1)).toMatchObject({
      refusal: 'server_name',
      reason: 'the client does not begin with TLS',
    });
    quiet.close();
  });

  it('whose hello does not arrive is cut at the time-out', async () => {
    const quiet = await Upstream.open(() => {});
    proxy.close();
    proxy = await TestProxy.open({ allow: [`127.0.0.1:${quiet.port}`], limits: { connectMs: 1000 } });
    const socket = await proxy.tunnel(`127.0.0.1:${quiet.port}`);
    socket.write(hello({}).subarray(0, 20));
    await once(socket, 'close');
    expect((await proxy.record()).at(-1)).toMatchObject({ reason: 'the handshake takes too long' });
    quiet.close();
  });
});

describe('text on a port that is neither 80 nor 443', () => {
  const evil = 'GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n';

  it.each([
    ['a method of 70 characters', `${'A'.repeat(70)} / HTTP/1.1\r\nHost: good.test\r\n\r\n${evil}`],
    ['a relative target', `GET relative HTTP/1.1\r\nHost: good.test\r\n\r\n${evil}`],
    ['an authority as target', `GET evil.test:80 HTTP/1.1\r\nHost: good.test\r\n\r\n${evil}`],
    ['other white space', `GET\v/\vHTTP/1.1\r\nHost: good.test\r\n\r\n${evil}`],
  ])('that a tolerant server could read as a request is cut off before it reaches the server: %s', async (_, text) => {
    const quiet = await Upstream.open(() => {});
    proxy.allow(`good.test:${quiet.port}`, `127.0.0.1:${quiet.port}`);
    const socket = await proxy.tunnel(`good.test:${quiet.port}`);
    // In several writes, so that the line may arrive in parts.
    for (const part of [text.slice(0, 30), text.slice(30, 60), text.slice(60)]) socket.write(part);
    socket.resume();
    await once(socket, 'close');
    expect(quiet.received).toEqual([]);
    quiet.close();
  });

  it.each([
    ['a NUL', '\0', evil],
    ['a DEL', '\x7f', evil],
    ['a byte that is no ASCII', '\xff', ` / HTTP/1.1\r\nHost: evil.test\r\n\r\n`],
    ['a method with a NUL', 'A\0', `B / HTTP/1.1\r\nHost: good.test\r\n\r\n${evil}`],
    ['a single word', 'GET\r\n', `Host: good.test\r\n\r\n${evil}`],
  ])('with a request after %s is cut before the server has all of it', async (_, first, rest) => {
    const quiet = await Upstream.open(() => {});
    proxy.allow(`good.test:${quiet.port}`, `127.0.0.1:${quiet.port}`);
    const socket = await proxy.tunnel(`good.test:${quiet.port}`);
    socket.write(Buffer.from(first, 'latin1'));
    await soon(() => expect(quiet.received).not.toEqual([]));
    socket.resume();
    for (const part of [rest.slice(0, 10), rest.slice(10)]) socket.write(Buffer.from(part, 'latin1'));
    await once(socket, 'close');
    expect(quiet.received.join('')).not.toContain('evil.test');
    quiet.close();
  });

  it('that a server answers with HTTP is cut before the answer', async () => {
    const tolerant = await Upstream.open((socket) => {
      socket.on('data', () => {
        socket.write('HT');
        setImmediate(() => socket.write('TP/1.1 200 OK\r\n\r\nof another host'));
      });
    });
    proxy.allow(`good.test:${tolerant.port}`, `127.0.0.1:${tolerant.port}`);
    const socket = await proxy.tunnel(`good.test:${tolerant.port}`);
    let received = '';
    socket.on('data', (chunk) => {
      received += String(chunk);
    });
    socket.write('GET x\r\nHost: evil.test\r\n\r\n');
    await once(socket, 'close');
    expect('HTTP').toContain(received);
    expect((await proxy.record()).at(-1)).toMatchObject({ decision: 'refuse', refusal: 'server_name' });
    tolerant.close();
  });

  it('passes unchanged if its first line is not a request', async () => {
    const echo = await Upstream.open((socket) => void socket.on('data', () => socket.end('+PONG\r\n')));
    proxy.allow(`good.test:${echo.port}`, `127.0.0.1:${echo.port}`);
    const socket = await proxy.tunnel(`good.test:${echo.port}`);
    socket.write('PI');
    socket.write('NG\r\n');
    expect(String((await once(socket, 'data'))[0])).toBe('+PONG\r\n');
    echo.close();
  });

  it('whose first line does not end is cut off at the time-out', async () => {
    const quiet = await Upstream.open(() => {});
    proxy.close();
    proxy = await TestProxy.open({ allow: [`127.0.0.1:${quiet.port}`], limits: { connectMs: 200 } });
    const socket = await proxy.tunnel(`127.0.0.1:${quiet.port}`);
    socket.write('PING');
    await once(socket, 'close');
    expect(quiet.received).toEqual([]);
    quiet.close();
  });
});

describe('the protocol of the first bytes', () => {
  it.each([
    ['\x16\x03\x01', 'tls'],
    ['GET / HTTP/1.1', 'http'],
    ['get\t/ HTTP/1.1', 'http'],
    ['OPTIONS * HTTP/1.1', 'http'],
    ['GET http://evil.test/', 'http'],
    ['CONNECT evil.test:443', 'http'],
    ['\r\nGET / HTTP/1.1', 'http'],
    [' GET / HTTP/1.1', 'http'],
    ['G', 'more'],
    ['GET', 'more'],
    ['GET ', 'more'],
    ['GET h', 'more'],
    ['GET http:/', 'more'],
    [`GET ${' '.repeat(100)}`, 'more'],
    [`GET ${' '.repeat(8192)}`, 'http'],
    ['SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n', 'other'],
    ['*1\r\n$4\r\nPING\r\n', 'other'],
    ['PING\r\n', 'other'],
    ['NICK ann\r\n', 'other'],
    ['\x00\x00\x00\x08\x04\xd2\x16\x2f', 'other'],
    ['NICK ann HTTP/1.1\r\n', 'http'],
    ['GET relative HTTP/1.1\r\n', 'http'],
    ['GET evil.test:80 HTTP/1.1\r\n', 'http'],
    ['GET\v/ HTTP/1.1\r\n', 'http'],
    ['GET\rrelative\rHTTP/1.1\r\n', 'http'],
    [`${'A'.repeat(70)} relative HTTP/1.1\r\n`, 'http'],
    [`${'A'.repeat(70)} / HTTP/1.1`, 'http'],
    ['a'.repeat(100), 'more'],
    ['a relative target, and no line end yet', 'more'],
    [`${'a'.repeat(100)}\r\n`, 'other'],
    ['get key\r\n', 'other'],
    ['{"id":1,"method":"x"}\n', 'other'],
    ['A'.repeat(8192), 'http'],
  ])('%j', (text, kind) => {
    expect(kindOf(Buffer.from(text, 'latin1'))).toBe(kind);
  });
});
