import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OutputFrameReader, readOutputs } from './frames.ts';

function frame(stream: 1 | 2, text: string): Buffer {
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([header, Buffer.from(text)]);
}

const bytes = Buffer.concat([frame(1, 'one'), frame(2, 'two'), frame(1, ''), frame(1, 'three')]);

describe('frames', () => {
  it.each([1, 3, 7, 8, 11, 100])('are parsed from pieces of %i bytes', (size) => {
    const reader = new OutputFrameReader();
    const found: string[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      for (const one of reader.push(bytes.subarray(at, at + size))) found.push(`${one.stream} ${one.bytes}`);
    }
    expect(found).toEqual(['stdout one', 'stderr two', 'stdout ', 'stdout three']);
  });
});

describe('outputs', () => {
  async function pair(): Promise<{ near: Socket; far: Socket; close: () => void }> {
    const server = createServer();
    server.listen(join(tmpdir(), `carrel-frames-${process.pid}-${Math.random()}.sock`));
    await once(server, 'listening');
    const near = connect(server.address() as string);
    const [far] = (await once(server, 'connection')) as [Socket];
    return { near, far, close: () => server.close() };
  }

  it('are separate without a terminal, and one stream with it', async () => {
    for (const terminal of [false, true]) {
      const { near, far, close } = await pair();
      const { stdout, stderr } = readOutputs(near, terminal, { over: async () => false });
      far.end(bytes);
      const read = async (stream: AsyncIterable<unknown>) => {
        let text = '';
        for await (const chunk of stream) text += (chunk as Buffer).toString('latin1');
        return text;
      };
      const texts = await Promise.all([read(stdout), read(stderr)]);
      expect(texts).toEqual(terminal ? [bytes.toString('latin1'), ''] : ['onethree', 'two']);
      close();
    }
  });

  it('apply back-pressure of the slower reader', async () => {
    const { near, far, close } = await pair();
    let over = false;
    const { stdout, stderr } = readOutputs(near, false, { over: async () => over });
    stderr.resume();
    const large = 'x'.repeat(1024 ** 2);
    let taken = 0;
    for (let n = 0; n < 16; n += 1) far.write(frame(1, large), () => (taken += 1));
    await once(stdout, 'readable');
    expect(taken).toBeLessThan(8);
    // All output of an ended process is read, whether or not there is a reader.
    over = true;
    const closed = once(near, 'close');
    far.end();
    await closed;
    let total = 0;
    for await (const chunk of stdout) total += (chunk as Buffer).length;
    expect(total).toBe(16 * large.length);
    close();
  });
});
