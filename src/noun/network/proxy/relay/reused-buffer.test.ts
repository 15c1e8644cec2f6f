import { once } from 'node:events';
import { type OnReadOpts, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { endLines, readLines, takeDirectly, withReusedBuffer } from './reused-buffer.ts';

const KiB = 1024;
const open: Socket[] = [];
afterEach(() => Promise.all(open.splice(0).map(closed)));

const closed = async (socket: Socket) => {
  if (!socket.destroyed) await once(socket.destroy(), 'close');
};

/** A socket whose reads the test makes. */
function reader() {
  let onread: OnReadOpts | null = null;
  const socket = withReusedBuffer((options) => {
    onread = options;
    return new Socket();
  });
  open.push(socket);
  const { buffer, callback } = onread! as OnReadOpts;
  const into = buffer as () => Buffer;
  return {
    socket,
    room: () => into().length,
    fill: () => void callback(into().length, into()),
    read: (text: string) => void callback(into().write(text), into()),
  };
}

describe('the buffer of a socket', () => {
  it('grows twice for a socket that fills it', () => {
    const { socket, room, fill, read } = reader();
    takeDirectly(socket, () => {});
    read('little');
    expect(room()).toBe(64 * KiB);
    fill();
    expect(room()).toBe(256 * KiB);
    fill();
    fill();
    expect(room()).toBe(1024 * KiB);
  });

  it('is the largest for a bounded number of sockets, until one of them closes', async () => {
    const readers = Array.from({ length: 70 }, reader);
    for (const { socket, fill } of readers) {
      takeDirectly(socket, () => {});
      for (let times = 0; times < 3; times += 1) fill();
    }
    const much = () => readers.filter(({ room }) => room() === 1024 * KiB);
    expect(much()).toHaveLength(64);
    await closed(much()[0]!.socket);
    readers.at(-1)!.fill();
    expect(readers.at(-1)!.room()).toBe(1024 * KiB);
  });
});

describe('a head', () => {
  const text = 'HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody\nof lines\n';

  it('is emitted line by line, and the bytes after it can be taken directly', () => {
    const { socket, read } = reader();
    const [lines, rest]: string[][] = [[], []];
    readLines(socket);
    socket.on('data', (line) => {
      lines!.push(String(line));
      if (String(line) === '\r\n' && endLines(socket)) takeDirectly(socket, (bytes) => rest!.push(String(bytes)));
    });
    socket.read(0);
    read(text.slice(0, 20));
    read(text.slice(20));
    expect(lines!.join('')).toBe('HTTP/1.1 200 OK\r\nA: b\r\n\r\n');
    expect(rest).toEqual(['body\nof lines\n']);
  });

  it('that was buffered before it was consumed leaves nothing to be taken directly', async () => {
    const { socket, read } = reader();
    readLines(socket);
    read(text);
    const seen: boolean[] = [];
    socket.on('data', () => seen.push(endLines(socket)));
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen.length).toBeGreaterThan(0);
    expect(seen).not.toContain(true);
  });
});
