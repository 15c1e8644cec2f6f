import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { TestProxy, Upstream } from '../../../../../test/fixtures/proxy.ts';
import { soon } from '../../../../../test/fixtures/soon.ts';

const MiB = 1024 * 1024;
let open: { close(): void }[] = [];
afterEach(() => {
  for (const one of open) one.close();
  open = [];
});

async function setup(answer: (socket: Socket) => void) {
  const upstream = await Upstream.open(answer);
  const place = `127.0.0.1:${upstream.port}`;
  const proxy = await TestProxy.open({ allow: [place] });
  open.push(upstream, proxy);
  return { proxy, place };
}

/** Opens a tunnel; no byte after the response to CONNECT has been consumed. */
async function tunnel(proxy: TestProxy, place: string): Promise<Socket> {
  const socket = proxy.connect();
  socket.write(`CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\n\r\n`);
  for (let have = Buffer.alloc(0); ; await once(socket, 'readable')) {
    have = Buffer.concat([have, (socket.read() as Buffer | null) ?? Buffer.alloc(0)]);
    const end = have.indexOf('\r\n\r\n') + 4;
    if (end < 4) continue;
    if (end < have.length) socket.unshift(have.subarray(end));
    return socket;
  }
}

/** The lines that the record has for the ends of `count` attempts. */
const ended = (proxy: TestProxy, count: number) =>
  soon(async () => {
    const lines = (await proxy.record()).filter(({ durationMs }) => durationMs !== undefined);
    expect(lines).toHaveLength(count);
    return lines;
  });

const sumOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Reads to the end and yields to the event loop after each piece. */
async function read(socket: Socket): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    hash.update(chunk as Buffer);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return hash.digest('hex');
}

describe('relayed data', () => {
  it('arrives whole on each connection, both ways at once, however slowly it is read, and is counted to the byte', async () => {
    const down = [randomBytes(24 * MiB), randomBytes(9 * MiB + 1), randomBytes(70_001)];
    const received: Promise<string>[] = [];
    const { proxy, place } = await setup((socket) => {
      socket.removeAllListeners('data').pause();
      received.push(read(socket));
      // The server sends first, so that the proxy relays the data and does not parse it.
      socket.end(down[received.length - 1]!);
    });
    const up = [randomBytes(11 * MiB), randomBytes(24 * MiB), randomBytes(100)];
    const got = [];
    for (const bytes of up) {
      const socket = await tunnel(proxy, place);
      got.push(read(socket));
      socket.end(bytes);
    }
    expect(await Promise.all(got)).toEqual(down.map(sumOf));
    expect(await Promise.all(received)).toEqual(up.map(sumOf));
    const counts = (await ended(proxy, 3)).map(({ sentBytes, receivedBytes }) => [sentBytes, receivedBytes]).sort();
    expect(counts).toEqual(up.map((bytes, at) => [bytes.length, down[at]!.length]).sort());
  });

  it('continues one way when the other way has ended', async () => {
    const { proxy, place } = await setup((socket) => {
      socket.write('220 hello\r\n');
      socket.on('end', () => socket.end(Buffer.alloc(MiB, 'x')));
    });
    const socket = await tunnel(proxy, place);
    socket.end('that is all');
    let bytes = 0;
    for await (const chunk of socket) bytes += (chunk as Buffer).length;
    expect(bytes).toBe(MiB + '220 hello\r\n'.length);
  });

  it('ends, and its attempt with it, when one side breaks off', async () => {
    const { proxy, place } = await setup((socket) => void socket.write(Buffer.alloc(32 * MiB)));
    const socket = await tunnel(proxy, place);
    await once(socket, 'readable');
    socket.destroy();
    expect(await ended(proxy, 1)).toMatchObject([{ receivedBytes: expect.any(Number) }]);
  });
});
