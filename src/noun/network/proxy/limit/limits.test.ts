import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { TestProxy, Upstream } from '../../../../../test/fixtures/proxy.ts';
import { soon } from '../../../../../test/fixtures/soon.ts';
import { duplicate } from '../../../../lib/sys/network-namespace.ts';
import { Listener } from '../socket/listener.ts';
import { TokenBucket } from './rate-limit.ts';

const MiB = 1024 * 1024;
let open: { close(): void }[] = [];
afterEach(() => {
  for (const one of open) one.close();
  open = [];
});

async function setup(limits: Parameters<typeof TestProxy.open>[0]['limits'], answer: (socket: Socket) => void) {
  const upstream = await Upstream.open(answer);
  const place = `127.0.0.1:${upstream.port}`;
  const proxy = await TestProxy.open({ allow: [place], ...(limits ? { limits } : {}) });
  open.push(upstream, proxy);
  return { upstream, proxy, place };
}

/** Reads to the end. */
async function drain(socket: Socket): Promise<number> {
  let bytes = 0;
  for await (const chunk of socket) bytes += (chunk as Buffer).length;
  return bytes;
}

/** The least time for 3 MiB at 4 MiB a second, without the burst and the last read, which may be a whole MiB. */
const leastMs = 350;

describe('a limit', () => {
  it('on bytes a second is kept', async () => {
    const { proxy, place } = await setup({ bytesPerSecond: 4 * MiB }, (socket) => {
      socket.once('data', () => socket.end(Buffer.alloc(3 * MiB)));
    });
    const socket = await proxy.tunnel(place);
    const from = performance.now();
    socket.write('go\n');
    expect(await drain(socket)).toBe(3 * MiB);
    expect(performance.now() - from).toBeGreaterThan(leastMs);
  });

  const body = (bytes: number) => [`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n`, Buffer.alloc(bytes)] as const;

  it('on bytes a second is kept for the body of an answer', async () => {
    const { proxy, place } = await setup({ bytesPerSecond: 4 * MiB }, (socket) => {
      socket.once('data', () => body(3 * MiB).forEach((part) => void socket.write(part)));
    });
    const from = performance.now();
    const text = await proxy.exchange(`GET http://${place}/ HTTP/1.1\r\nHost: ${place}\r\nConnection: close\r\n\r\n`);
    expect(text.length).toBeGreaterThan(3 * MiB);
    expect(performance.now() - from).toBeGreaterThan(leastMs);
  });

  it('on total bytes cuts off the body of an answer', async () => {
    const { proxy, place } = await setup({ totalBytes: MiB }, (socket) => {
      socket.once('data', () => body(24 * MiB).forEach((part) => void socket.write(part)));
    });
    const text = await proxy.exchange(`GET http://${place}/ HTTP/1.1\r\nHost: ${place}\r\n\r\n`).catch(() => '');
    expect(text.length).toBeLessThan(24 * MiB);
    expect((await proxy.record()).at(-1)).toMatchObject({ reason: 'reached the limit of bytes sent and received' });
  });

  it('on total bytes cuts off open connections, and refuses new ones', async () => {
    const { proxy, place } = await setup({ totalBytes: MiB }, (socket) => socket.write(Buffer.alloc(8 * MiB)));
    const socket = await proxy.tunnel(place);
    expect(await drain(socket).catch(() => MiB)).toBeLessThan(4 * MiB);
    expect((await proxy.record()).at(-1)).toMatchObject({ reason: 'reached the limit of bytes sent and received' });
    expect(await proxy.exchange(`CONNECT ${place} HTTP/1.1\r\nHost: x\r\n\r\n`)).toMatch(/^HTTP\/1\.1 429 /);
    expect((await proxy.record()).at(-1)).toMatchObject({ decision: 'refuse', refusal: 'limit' });
  });

  it('on idle time closes a connection without traffic', async () => {
    const { proxy, place } = await setup({ idleMs: 1000 }, (socket) => socket.write('hello'));
    const socket = await proxy.tunnel(place);
    await once(socket, 'close');
    await soon(async () =>
      expect((await proxy.record()).at(-1)).toMatchObject({ durationMs: expect.any(Number), reason: null }),
    );
  });

  it('on the time to connect closes a connection that sends no whole request', async () => {
    const { proxy } = await setup({ connectMs: 1000 }, () => {});
    const [silent, slow] = [proxy.connect(), proxy.connect()];
    slow.write(Buffer.from([5, 1]));
    await Promise.all([drain(silent), drain(slow)]);
    silent.destroy();
    slow.destroy();
    await soon(async () => {
      expect(await proxy.record()).toMatchObject([{ via: 'socks', decision: 'refuse' }]);
    });
  });

  it('is reported when a connection is refused because it cannot be recorded', async () => {
    const { proxy, upstream, place } = await setup({}, (socket) => socket.write('hello'));
    proxy.breakRecord();
    expect(await proxy.exchange(`CONNECT ${place} HTTP/1.1\r\nHost: x\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 429 (.|\r\n)*recorded/,
    );
    expect(upstream.received).toEqual([]);
  });
});

describe('a listener', () => {
  const made: Socket[] = [];
  afterEach(() => {
    for (const socket of made.splice(0)) socket.destroy();
  });

  async function listen(rate: TokenBucket, room: () => number) {
    const server: Server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const fd = duplicate((server as unknown as { _handle: { fd: number } })._handle.fd);
    server.close();
    const accepted: Socket[] = [];
    const listener = new Listener(fd, { rate, room: () => room() - accepted.length }, (socket) => {
      accepted.push(socket);
      made.push(socket);
    });
    open.push(listener);
    const dial = () => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      made.push(socket);
    };
    return { listener, accepted, dial };
  }

  const have = (accepted: readonly Socket[], count: number) => soon(() => expect(accepted).toHaveLength(count));

  it('accepts as many connections as there is room for; the others wait until there is room', async () => {
    let room = 3;
    const { listener, accepted, dial } = await listen(new TokenBucket(1000, 1000), () => room);
    for (let at = 0; at < 10; at += 1) dial();
    await have(accepted, 3);
    room = 5;
    listener.resume();
    await have(accepted, 5);
  });

  it('accepts connections no faster than the rate limit allows', async () => {
    const { accepted, dial } = await listen(new TokenBucket(100, 5), () => 1000);
    const from = performance.now();
    for (let at = 0; at < 30; at += 1) dial();
    await have(accepted, 30);
    expect(performance.now() - from).toBeGreaterThan(200);
  });
});
