import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LogLine, LogOptions } from '../../../kernel/engine/engine.ts';
import { EarlierOutput } from './earlier-output.ts';
import { gathered, outputOf } from './output.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-output-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const at = '2026-01-01T00:00:00Z';
const line = (text: string | Buffer, stream: LogLine['stream'] = 'stdout'): LogLine => ({
  at,
  stream,
  bytes: Buffer.from(text as string),
});
async function* many(...lines: LogLine[]) {
  yield* lines;
}
const earlier = (maxBytes = 1e6, files = 1) => new EarlierOutput(folder, { maxBytes, files });
const text = async (lines: AsyncIterable<{ bytes: Buffer }>) => {
  let found = '';
  for await (const { bytes } of lines) found += bytes.toString('latin1');
  return found;
};

describe('the output of earlier starts', () => {
  it('is kept byte for byte, and other accounts cannot read it', async () => {
    const bytes = Buffer.from([0, 0xff, 0x80, 0x20, 0x0d, 0x0a]);
    await earlier().keep(1, many(line(bytes), line('oops\n', 'stderr'), line('in '), line('pieces\n'), line('\n')));
    const found: LogLine[] = [];
    for await (const one of earlier().read(null)) found.push(one);
    expect(Buffer.concat(found.map((one) => one.bytes))).toEqual(
      Buffer.concat([bytes, Buffer.from('oops\nin pieces\n\n')]),
    );
    expect(found[1]).toEqual({ at, stream: 'stderr', bytes: Buffer.from('oops\n') });
    expect(statSync(join(folder, 'output')).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'output/00000001')).mode & 0o777).toBe(0o600);
  });

  it('is kept once for each start, even if that is repeated after a crash', async () => {
    await earlier().keep(1, many(line('first\n')));
    await earlier().keep(1, many(line('first\n')));
    writeFileSync(join(folder, 'output/00000002.new'), 'half a rec');
    await earlier().keep(2, many(line('second\n')));
    await earlier().keep(3, many());
    expect(await text(earlier().read(null))).toBe('first\nsecond\n');
    expect(readdirSync(join(folder, 'output'))).toEqual(['00000001', '00000002']);
  });

  it('gets a newline where a start left its last line unfinished', async () => {
    await earlier().keep(1, many(line('no end')));
    await earlier().keep(2, many(line('next\n')));
    expect(await text(earlier().read(null))).toBe('no end\nnext\n');
  });

  it('loses the oldest starts when it is too large or has too many', async () => {
    for (let start = 1; start <= 9; start += 1)
      await earlier(100, 2).keep(start, many(line(`${start}\n`.padStart(40))));
    expect((await text(earlier().read(null))).trim().split(/\s+/)).toEqual(['8', '9']);
    await earlier(1, 1).keep(10, many(line('large\n')));
    expect(await text(earlier().read(null))).toBe('large\n');
    for (let start = 11; start <= 130; start += 1) await earlier().keep(start, many(line('x\n')));
    expect(readdirSync(join(folder, 'output'))).toHaveLength(100);
  });

  it('is empty for a sandbox that never started', async () => {
    expect(await text(earlier().read(null))).toBe('');
    expect(await text(earlier().read(5))).toBe('');
  });
});

describe('the whole output', () => {
  const engine = (...lines: LogLine[]) => ({
    logs: (_: string, { tail }: LogOptions) => many(...(tail === null ? lines : tail === 0 ? [] : lines.slice(-tail))),
  });
  const output = (tail: number | null, ...lines: LogLine[]) =>
    text(outputOf(engine(...lines), 'id', earlier(), { follow: false, tail }));

  it('begins with earlier starts, and its last lines reach back into them', async () => {
    await earlier().keep(1, many(line('a\n'), line('b\n')));
    await earlier().keep(2, many(line('c\n')));
    const now = [line('d\n'), line('e\n')];
    expect(await output(null, ...now)).toBe('a\nb\nc\nd\ne\n');
    for (const [tail, found] of [
      [0, ''],
      [1, 'e\n'],
      [2, 'd\ne\n'],
      [3, 'c\nd\ne\n'],
      [4, 'b\nc\nd\ne\n'],
      [99, 'a\nb\nc\nd\ne\n'],
    ] as const)
      expect(await output(tail, ...now)).toBe(found);
    expect(await output(2)).toBe('b\nc\n');
    expect(await output(2, line('unfinished'))).toBe('c\nunfinished');
  });
});

describe('the gathered output', () => {
  it('keeps the order of the streams, and has what is available without waiting for more', async () => {
    let more = () => {};
    async function* source() {
      yield* [line('a'), line('b'), line('c', 'stderr'), line('d'), line('e')];
      await new Promise<void>((resolve) => {
        more = resolve;
      });
      yield line('f');
    }
    const found: string[] = [];
    for await (const { stream, bytes } of gathered(source())) {
      found.push(`${stream} ${bytes}`);
      if (found.length === 3) more();
    }
    expect(found).toEqual(['stdout ab', 'stderr c', 'stdout de', 'stdout f']);
  });

  it('comes in pieces of bounded size', async () => {
    const sizes: number[] = [];
    const big = Array.from({ length: 100 }, () => line('x'.repeat(10_000)));
    for await (const { bytes } of gathered(many(...big))) sizes.push(bytes.length);
    expect(Math.max(...sizes)).toBeLessThan(80_000);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(1_000_000);
  });

  it('passes errors on, and ends the source when the reader stops', async () => {
    let ended = false;
    async function* source(fails: boolean) {
      try {
        yield line('a');
        if (fails) throw new Error('broken');
        for (;;) yield line('b', 'stderr');
      } finally {
        ended = true;
      }
    }
    await expect(text(gathered(source(true)))).rejects.toThrow('broken');
    ended = false;
    for await (const _ of gathered(source(false))) break;
    expect(ended).toBe(true);
  });
});
