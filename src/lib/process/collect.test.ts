import { PassThrough, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { expect, it } from 'vitest';
import { collect, FirstBytes, firstBytes, LastBytes } from './collect.ts';

it('collect keeps the first bytes and reads the rest, so that the writer is not blocked', async () => {
  const stream = new PassThrough({ highWaterMark: 4 });
  const collected = collect(stream, 5);
  for (const text of ['abc', 'def', 'ghi']) stream.write(text);
  stream.end();
  await finished(stream);
  expect(collected().toString()).toBe('abcde');
});

it('firstBytes of a stream that never ends returns at the limit and cancels the stream', async () => {
  const endless = new Readable({ read: () => void endless.push('0123456789') });
  expect((await firstBytes(endless, 25)).toString()).toBe('0123456789012345678901234');
  expect(endless.destroyed).toBe(true);
});

it('firstBytes of a shorter stream is all of it', async () => {
  expect((await firstBytes(Readable.from([Buffer.from('ab'), Buffer.from('c')]), 25)).toString()).toBe('abc');
});

it('FirstBytes and LastBytes keep the beginning and the end of what is pushed', () => {
  const [first, last] = [new FirstBytes(5), new LastBytes(5)];
  for (const text of ['abc', 'def', 'ghi']) {
    first.push(Buffer.from(text));
    last.push(Buffer.from(text));
  }
  expect([first.bytes.toString(), last.bytes.toString()]).toEqual(['abcde', 'efghi']);
});
