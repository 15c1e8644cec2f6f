import { expect, it } from 'vitest';
import { RecordReader } from './log.ts';

const piece = 16 * 1024;
const time = '2026-01-01T00:00:00.000000000Z';

function read(...contents: string[]): string[] {
  const reader = new RecordReader();
  const frames = contents.map((content) => ({ stream: 'stdout' as const, bytes: Buffer.from(`${time} ${content}`) }));
  return frames.map((frame) => reader.read(frame).bytes.toString());
}

it('a record is parsed into time and content', () => {
  const { at, bytes } = new RecordReader().read({ stream: 'stderr', bytes: Buffer.from(`${time} a b\n`) });
  expect([at, bytes.toString()]).toEqual([time, 'a b\n']);
});

it('the last piece of a long line has a newline, whether or not the engine kept it', () => {
  const long = 'x'.repeat(piece);
  for (const last of ['end', 'end\n', '', '\n']) {
    const text = read(long, long, last, 'next\n').join('');
    expect(text).toBe(`${long}${long}${last.trim()}\nnext\n`);
  }
});

it('an incomplete line is kept without a newline', () => {
  expect(read('whole\n', 'part')).toEqual(['whole\n', 'part']);
});
