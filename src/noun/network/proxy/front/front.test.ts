import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestProxy, Upstream } from '../../../../../test/fixtures/proxy.ts';
import { processRef } from '../../../../lib/process/process.ts';

let upstream: Upstream;
let proxy: TestProxy;
let there: string;

beforeEach(async () => {
  upstream = await Upstream.http();
  there = `127.0.0.1:${upstream.port}`;
  const names = { 'good.test': ['127.0.0.1'], 'other.test': ['127.0.0.1'], 'mixed.test': ['10.9.8.7', '127.0.0.1'] };
  proxy = await TestProxy.open({
    allow: [there, `good.test:${upstream.port}`, `mixed.test:${upstream.port}`, 'good.test:80', 'inside.test'],
    names: { ...names, 'inside.test': ['10.1.2.3'] },
  });
});
afterEach(() => {
  proxy.close();
  upstream.close();
});

function get(host: string, path = '/', more: readonly string[] = []): string {
  return [`GET http://${host}${path} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...more, '', ''].join('\r\n');
}

describe('a plain request', () => {
  it('is passed on without the headers for the proxy', async () => {
    const request = get(`GOOD.test.:${upstream.port}`, '/a?b=c', [
      'X-One: 1',
      'Proxy-Authorization: Basic c2VjcmV0',
      'Proxy-Connection: keep-alive',
      'Connection: x-hop',
      'X-Hop: gone',
      'TE: trailers',
      'Keep-Alive: 5',
    ]);
    expect(await proxy.exchange(request)).toContain('hello');
    expect(upstream.text).toMatch(/^GET \/a\?b=c HTTP\/1\.1\r\n/);
    expect(upstream.text).toContain('X-One: 1\r\n');
    expect(upstream.text).not.toMatch(/proxy-|x-hop|keep-alive|^te:/im);
    expect(await proxy.record()).toMatchObject([
      { via: 'http', asked: `good.test:${upstream.port}`, decision: 'allow', address: '127.0.0.1' },
      { sentBytes: 0, receivedBytes: 5, reason: null },
    ]);
  });

  it('with a body is passed on with it, framed once', async () => {
    const lines = [`POST http://${there}/ HTTP/1.1`, `Host: ${there}`, 'Connection: close'];
    await proxy.exchange([...lines, 'Content-Length: 5', '', 'abcde'].join('\r\n'));
    expect(upstream.text).toMatch(/\r\nContent-Length: 5\r\n(.|\r\n)*\r\n\r\nabcde$/i);
    await proxy.exchange([...lines, 'Transfer-Encoding: chunked', '', '5', 'fghij', '0', '', ''].join('\r\n'));
    expect(upstream.text).toMatch(/\r\nTransfer-Encoding: chunked\r\n(.|\r\n)*\r\n\r\n5\r\nfghij\r\n0\r\n\r\n$/i);
  });

  it('is checked against the rules for each request of a connection', async () => {
    const stay = get(there).replace('Connection: close\r\n', '');
    const answer = await proxy.exchange(stay, get('evil.test'));
    expect(answer).toMatch(/^HTTP\/1\.1 200(.|\r\n)*hello(.|\r\n)*HTTP\/1\.1 403/);
    expect(proxy.lookedUp).toEqual([]);
  });

  it.each([
    ['evil.test', 403, 'no rule allows evil.test:80'],
    ['good.test:22', 403, 'is not for port 22'],
    ['127.0.0.1:1', 403, 'is not for port 1'],
    ['[::1]', 403, 'no rule allows [::1]:80'],
    ['inside.test', 403, '10.1.2.3 is a private address'],
  ])('to %s is refused', async (host, status, why) => {
    const answer = await proxy.exchange(get(host));
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(answer).toContain(why);
    expect(upstream.connections).toBe(0);
    expect(await proxy.record()).toMatchObject([{ decision: 'refuse', reason: expect.stringContaining(why) }]);
  });

  it('is not looked up before its name is allowed', async () => {
    await proxy.exchange(get('secret-data-in-a-name.evil.test'));
    await proxy.exchange('CONNECT secret-data-in-a-name.evil.test:443 HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(proxy.lookedUp).toEqual([]);
  });

  it('goes to an address that may be dialled, and is looked up once', async () => {
    expect(await proxy.exchange(get(`mixed.test:${upstream.port}`))).toContain('hello');
    expect(proxy.lookedUp).toEqual(['mixed.test']);
  });
});

describe('a request that can be read in two ways is refused:', () => {
  const head = () => [`POST http://${there}/ HTTP/1.1`, `Host: ${there}`];
  const cases: [string, () => string][] = [
    ['another Host', () => get(there).replace(`Host: ${there}`, 'Host: evil.test')],
    ['another port in the Host', () => get(there).replace(`Host: ${there}`, 'Host: 127.0.0.1')],
    ['two Hosts', () => get(there, '/', [`Host: ${there}`])],
    ['no Host', () => get(there).replace(/Host: .*\r\n/, '')],
    [
      'a length and chunks',
      () => [...head(), 'Content-Length: 5', 'Transfer-Encoding: chunked', '', '0', '', ''].join('\r\n'),
    ],
    ['two lengths', () => [...head(), 'Content-Length: 5', 'Content-Length: 6', '', 'abcdef'].join('\r\n')],
    ['two lengths in one', () => [...head(), 'Content-Length: 5, 5', '', 'abcde'].join('\r\n')],
    ['a negative length', () => [...head(), 'Content-Length: -5', '', ''].join('\r\n')],
    ['a length with a sign', () => [...head(), 'Content-Length: +5', '', 'abcde'].join('\r\n')],
    ['a hidden coding', () => [...head(), 'Transfer-Encoding: xchunked', '', '0', '', ''].join('\r\n')],
    [
      'chunks after another coding',
      () => [...head(), 'Transfer-Encoding: gzip, chunked', '', '0', '', ''].join('\r\n'),
    ],
    [
      'a coding twice',
      () => [...head(), 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity', '', '0', '', ''].join('\r\n'),
    ],
    ['a space before the colon', () => [...head(), 'Transfer-Encoding : chunked', '', '0', '', ''].join('\r\n')],
    ['a folded header', () => [...head(), 'X-A: b', ' Transfer-Encoding: chunked', '', '0', '', ''].join('\r\n')],
    ['a bare line feed', () => get(there).replaceAll('\r\n', '\n')],
    ['a bare carriage return', () => get(there, '/', ['X: a\rTransfer-Encoding: chunked'])],
    ['NUL in a header', () => get(there, '/', ['X: a\0b'])],
    ['NUL in a name', () => get(`good.test\0.evil.test`)],
    ['a path alone', () => `GET / HTTP/1.1\r\nHost: ${there}\r\n\r\n`],
    ['an asterisk', () => `OPTIONS * HTTP/1.1\r\nHost: ${there}\r\n\r\n`],
    ['userinfo', () => get(`user:pass@${there}`)],
    ['userinfo that looks like a host', () => get(`${there}@evil.test`)],
    ['a backslash', () => get(`${there}\\@evil.test`)],
    ['https in the clear', () => get(there).replace('http:', 'https:')],
    ['another scheme', () => get(there).replace('http:', 'ftp:')],
    ['an encoded name', () => get('good%2etest')],
    ['an odd address', () => get(`0x7f.1:${upstream.port}`)],
    ['one number', () => get(`2130706433:${upstream.port}`)],
    ['a fragment', () => get(there, '/#x')],
    ['HTTP/2 without asking', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    [
      'an upgrade to HTTP/2',
      () => get(there, '/', ['Upgrade: h2c', 'Connection: Upgrade, HTTP2-Settings', 'HTTP2-Settings: AA']),
    ],
    ['garbage', () => '\x01\x02\x03\x04\r\n\r\n'],
    ['SOCKS 4', () => '\x04\x01\x00\x50\x7f\x00\x00\x01\x00\r\n\r\n'],
    ['a header that is far too long', () => get(there, '/', [`X: ${'a'.repeat(100_000)}`])],
  ];
  it.each(cases)('%s', async (_, request) => {
    const answer = await proxy.exchange(request());
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(upstream.connections).toBe(0);
    const record = await proxy.record();
    expect(record).toMatchObject(record.map(() => ({ decision: 'refuse', refusal: 'bad_request' })));
    expect(record).not.toEqual([]);
  });

  it('nothing of a smuggled request reaches the server', async () => {
    const smuggled = `GET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n`;
    const body = `0\r\n\r\n${smuggled}`;
    const lines = [...head(), 'Transfer-Encoding: chunked', 'Connection: close', ''];
    await proxy.exchange([...lines, body].join('\r\n'));
    expect(upstream.text).not.toContain('smuggled');
  });
});

describe('CONNECT', () => {
  it.each([
    ['userinfo', 'user@good.test:443'],
    ['no port', 'good.test'],
    ['port 0', 'good.test:0'],
    ['a port too large', 'good.test:65536'],
    ['a path', 'good.test:443/x'],
    ['a URL', 'https://good.test:443'],
    ['an encoded name', 'good%2etest:443'],
    ['two ports', 'good.test:443:443'],
    ['a name too long', `${'a.'.repeat(200)}test:443`],
    ['an odd address', '0177.0.0.1:443'],
    ['a zone', '[fe80::1%25eth0]:443'],
  ])('with %s is refused', async (_, target) => {
    const answer = await proxy.exchange(`CONNECT ${target} HTTP/1.1\r\nHost: good.test\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(await proxy.record()).toMatchObject([{ via: 'connect', decision: 'refuse', refusal: 'bad_request' }]);
  });

  it('in a tunnel is refused', async () => {
    const socket = await proxy.tunnel(`good.test:${upstream.port}`);
    socket.write('CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test\r\n\r\n');
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 400 /);
    socket.destroy();
  });

  it('opens a tunnel for plain HTTP whose requests are for that host', async () => {
    const socket = await proxy.tunnel(`good.test:${upstream.port}`);
    socket.write(`GET /in HTTP/1.1\r\nHost: good.test:${upstream.port}\r\n\r\n`);
    expect(String((await once(socket, 'data'))[0])).toContain('200 OK');
    socket.destroy();
    expect(upstream.text).toMatch(/^GET \/in HTTP/);
  });

  it.each([
    ['another Host', (port: number) => `GET / HTTP/1.1\r\nHost: evil.test:${port}\r\n\r\n`],
    ['another Host after an empty line', (port: number) => `\r\nGET / HTTP/1.1\r\nHost: evil.test:${port}\r\n\r\n`],
    ['another URL', (port: number) => `GET http://other.test:${port}/ HTTP/1.1\r\nHost: other.test:${port}\r\n\r\n`],
    ['another URL in small letters', (port: number) => `get http://other.test:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`],
  ])('opens a tunnel that refuses a request for %s', async (_, request) => {
    const socket = await proxy.tunnel(`good.test:${upstream.port}`);
    for (const byte of request(upstream.port)) socket.write(byte);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1\.1 400 /);
    socket.destroy();
    expect(upstream.text).not.toContain('GET');
  });

  it('to port 80 passes plain HTTP only', async () => {
    const socket = await proxy.tunnel('good.test:80');
    socket.write('SSH-2.0-evil\r\n');
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 400 /);
    socket.destroy();
  });

  it('passes a protocol whose server speaks first', async () => {
    const greeter = await Upstream.open((socket) => void socket.write('220 hello\r\n'));
    proxy.allow(`127.0.0.1:${greeter.port}`);
    const socket = proxy.connect();
    socket.write(`CONNECT 127.0.0.1:${greeter.port} HTTP/1.1\r\nHost: x\r\n\r\n`);
    let heard = '';
    for await (const chunk of socket) {
      heard += String(chunk);
      if (heard.endsWith('220 hello\r\n')) break;
    }
    socket.destroy();
    greeter.close();
    expect(heard).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('is refused with the error of the connection if no server listens there', async () => {
    upstream.close();
    const answer = await proxy.exchange(`CONNECT ${there} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 502 (.|\r\n)*ECONNREFUSED/);
    expect(await proxy.record()).toMatchObject([
      { decision: 'allow' },
      { reason: expect.stringContaining('ECONNREFUSED') },
    ]);
  });
});

describe('a change of the rules', () => {
  it('closes connections that are not allowed any more, and no others', async () => {
    const quiet = await Upstream.open((socket) => void socket.write('hi'));
    proxy.allow(`127.0.0.1:${quiet.port}`, there);
    const socket = await proxy.tunnel(`127.0.0.1:${quiet.port}`);
    proxy.allow(`127.0.0.1:${quiet.port}`);
    expect(socket.destroyed).toBe(false);
    proxy.allow(there);
    await once(socket, 'close');
    expect((await proxy.record()).at(-1)).toMatchObject({ reason: 'not allowed any more' });
    expect(await proxy.exchange(get(`127.0.0.1:${quiet.port}`))).toContain('403');
    quiet.close();
  });

  it.each([
    ['that still runs', processRef(process.pid)!, 'not allowed any more'],
    ['that has ended', { pid: 1, startTicks: 1, bootId: 'another' }, 'the sandbox has ended'],
  ])('that detaches a sandbox closes its connections with the reason, for a sandbox %s', async (_, init, reason) => {
    proxy.attached.change({ ...proxy.attached.attachment, init });
    const socket = await proxy.tunnel(there);
    proxy.attached.end();
    await once(socket, 'close');
    expect((await proxy.record()).at(-1)).toMatchObject({ reason });
  });
});
