import { expect, test } from 'vitest';
import { Lines } from './lines.ts';

function read(maxBytes: number, ...chunks: (string | Buffer)[]): string[] {
  const lines = new Lines(maxBytes);
  return [...chunks.flatMap((chunk) => lines.push(Buffer.from(chunk))), ...lines.end()];
}

test('lines are whole wherever chunks end', () => {
  const bytes = Buffer.from('eins\n\nzwölf 🎈\r\nno end');
  for (const size of [1, 2, 3, 100]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );
    expect(read(100, ...chunks)).toEqual(['eins', '', 'zwölf 🎈', 'no end']);
  }
});

test('a line past the limit is cut, and the next one is complete', () => {
  expect(read(4, 'abcdefgh', 'ijk\nabcd\n', 'x'.repeat(1000), 'y\nz')).toEqual(['abcd', 'abcd', 'xxxx', 'z']);
});

test('bytes that are not UTF-8 are replaced', () => {
  expect(read(100, Buffer.from([0xff, 0x61, 0xc3, 0x0a]))).toEqual(['\ufffda\ufffd']);
});
