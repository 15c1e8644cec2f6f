import { PassThrough, Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { encodeFrame, encodeJson, FrameReader } from '../../lib/wire/stream.ts';
import { Output } from '../output/output.ts';
import { sendInput } from './input.ts';
import { closeSinks, ownSinks, receive } from './receive.ts';

const ended = { exitCode: 7, signal: null, outOfMemory: false };

test('frames reach their sinks until the exit', async () => {
  const seen: string[] = [];
  const stream = Readable.from([
    encodeFrame('stdout', Buffer.from('a')),
    Buffer.concat([encodeFrame('stderr', Buffer.from('b')), encodeJson('exit', ended)]),
  ]);
  const exit = await receive(stream, {
    stdout: (chunk) => void seen.push(`out ${chunk}`),
    stderr: (chunk) => void seen.push(`err ${chunk}`),
  });
  expect(exit).toEqual(ended);
  expect(seen).toEqual(['out a', 'err b']);
});

test('a slow sink slows the stream', async () => {
  let pulled = 0;
  let release = () => {};
  const stream = new Readable({
    highWaterMark: 1,
    read() {
      pulled += 1;
      this.push(pulled <= 20 ? encodeFrame('stdout', Buffer.from('x')) : encodeJson('exit', ended));
    },
  });
  const gate = new Promise<void>((open) => {
    release = open;
  });
  const done = receive(stream, { stdout: () => gate, stderr: () => {} });
  await new Promise((next) => setImmediate(next));
  expect(pulled).toBeLessThan(5);
  release();
  expect(await done).toEqual(ended);
});

const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

test.each([
  ['ends', (stream: Readable) => stream.push(null)],
  ['is reset, as when the daemon is killed before it reads all input,', (stream: Readable) => stream.destroy(reset)],
])('a stream that %s without an exit frame means that the daemon went away', async (_, end) => {
  const stream = new Readable({ read() {} });
  const received = receive(stream, { stdout: () => {}, stderr: () => {} }, 'carrel attach a');
  end(stream);
  await expect(received).rejects.toMatchObject({
    code: 'unavailable',
    message: 'the connection to the daemon was lost while the command was running',
    hint: 'The sandbox goes on without it: carrel attach a',
  });
});

test('input is sent with back-pressure, then its end', async () => {
  const socket = new PassThrough({ highWaterMark: 4 });
  const source = new PassThrough();
  sendInput(socket, source);
  source.end('hello');
  const reader = new FrameReader();
  const seen: string[] = [];
  for await (const chunk of socket) {
    for (const { type, payload } of reader.push(chunk as Buffer)) seen.push(`${type} ${payload}`);
    if (seen.at(-1) === 'stdin ') break;
  }
  expect(seen).toEqual(['stdin hello', 'stdin ']);
});

test('with --json each chunk is a line, and characters are not split', () => {
  let text = '';
  const out = new Output(true, { write: (more) => (text += more) });
  const sinks = ownSinks(out);
  const bytes = Buffer.from('é\n');
  sinks.stdout(bytes.subarray(0, 1));
  sinks.stdout(bytes.subarray(1));
  closeSinks(out, ended);
  expect(
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([
    { stream: 'stdout', text: 'é\n' },
    { stream: 'exit', ...ended },
  ]);
});
