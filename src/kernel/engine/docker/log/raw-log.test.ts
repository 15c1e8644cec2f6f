import { expect, it } from 'vitest';
import { RawLogReader } from './raw-log.ts';

const time = '2026-01-01T00:00:00.000000000Z';

/** The contents that are parsed when the text arrives in chunks of so many bytes. */
function read(text: string, chunkBytes: number): string[] {
  const reader = new RawLogReader(8);
  const chunks = Array.from({ length: Math.ceil(text.length / chunkBytes) }, (_, n) =>
    Buffer.from(text.slice(n * chunkBytes, (n + 1) * chunkBytes)),
  );
  const frames = [...chunks.flatMap((chunk) => [...reader.push(chunk)]), ...reader.end()];
  return frames.map(({ bytes }) => bytes.toString().replace(`${time} `, ''));
}

it.each([1, 7, 1000])('records are parsed from chunks of %d bytes', (chunkBytes) => {
  expect(read(`${time} one\r\n${time} \n${time} $ `, chunkBytes)).toEqual(['one\r\n', '\n', '$ ']);
});

it('pieces of a long line are records, with or without a newline at the end', () => {
  expect(read(`${time} 12345678${time} 9\n${time} next\n`, 1000)).toEqual(['12345678', '9\n', 'next\n']);
  expect(read(`${time} 12345678${time} 9${time} next\n`, 1000)).toEqual(['12345678', '9', 'next\n']);
});
