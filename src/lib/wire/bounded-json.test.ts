import { describe, expect, it } from 'vitest';
import { readJsonText, TokenCount } from './bounded-json.ts';

const many = 100_001;
const refusal = 'the JSON has more than 100000 values';

function push(text: string, pieces: number, count = new TokenCount('text')): void {
  const bytes = Buffer.from(text);
  const size = Math.ceil(bytes.length / pieces);
  for (let at = 0; at < bytes.length; at += size) count.push(bytes.subarray(at, at + size));
  count.check();
}

describe.each([1, 7, 1000])('in %i pieces', (pieces) => {
  it.each([
    ['brackets', '['.repeat(many)],
    ['objects, each in a line of its own', `[${'{},\n'.repeat(many)}{}]`],
    ['numbers after a string with escapes', `["\\\\\\"",${'1,'.repeat(many)}1]`],
    ['strings', `[${'"",'.repeat(many)}""]`],
  ])('too many %s are refused', (_, text) => {
    expect(() => push(text, pieces)).toThrow(refusal);
  });

  it.each([
    ['brackets', '[{,'],
    ['quotes', '\\"'],
    ['backslashes', '\\\\'],
  ])('a string may have any number of %s', (_, text) => {
    push(`{"text":"${text.repeat(many)}"}`, pieces);
  });

  it('the values of each line are counted separately', () => {
    const count = new TokenCount('lines');
    for (let lines = 0; lines < 5; lines += 1) push(`["\\"",${'1,'.repeat(many / 2)}1]\n`, pieces, count);
    expect(() => push('['.repeat(many), pieces, count)).toThrow(refusal);
  });

  it('after a line that ends within a string, the values of the next line are counted', () => {
    const count = new TokenCount('lines');
    push(`"${'x'.repeat(many)}\\\n`, pieces, count);
    expect(() => push('['.repeat(many), pieces, count)).toThrow(refusal);
  });

  it('a long line is counted from its beginning', () => {
    const count = new TokenCount('lines');
    push(`[]\n${'['.repeat(many / 2)}`, pieces, count);
    expect(() => push('['.repeat(many / 2 + 1), pieces, count)).toThrow(refusal);
  });
});

/** Counts byte by byte; of lines the most in one. */
function slowCount(text: string, what: 'text' | 'lines'): number {
  let [most, count, isInString, isEscaped] = [0, 0, false, false];
  for (const letter of text) {
    if (what === 'lines' && letter === '\n') [count, isInString, isEscaped] = [0, false, false];
    else if (isEscaped) isEscaped = false;
    else if (isInString) [isInString, isEscaped] = [letter !== '"', letter === '\\'];
    else {
      isInString = letter === '"';
      if ('",[{'.includes(letter)) count += 1;
    }
    most = Math.max(most, count);
  }
  return most;
}

const units = ['"', '"', '\\', '\\', ',', '[', '{', 'a', '\n', 'a'.repeat(40), '['.repeat(40)];

it.each(['text', 'lines'] as const)('random %s has the same count as in a parser that reads byte by byte', (what) => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  for (let round = 0; round < 5000; round += 1) {
    const text = Array.from({ length: random(24) }, () => units[random(units.length)]).join('');
    const size = 1 + random(random(2) === 0 ? 8 : 200);
    const most = slowCount(text, what);
    for (const max of [most - 1, most].filter((one) => one >= 0)) {
      const count = new TokenCount(what, max);
      for (let at = 0; at < text.length; at += size) count.push(Buffer.from(text.slice(at, at + size)));
      expect([text, size, max, count.refusal === null]).toEqual([text, size, max, most <= max]);
    }
  }
});

describe('the text of a stream', () => {
  async function* streamOf(text: string) {
    for (let at = 0; at < text.length; at += 65_536) yield Buffer.from(text.slice(at, at + 65_536));
  }

  it('is read as a whole, and not at all if it is too large or has too many values', async () => {
    expect(await readJsonText(streamOf('["\u00e9"]'), 6)).toBe('["\u00e9"]');
    expect(await readJsonText(streamOf('["\u00e9"]'), 5)).toBeNull();
    await expect(readJsonText(streamOf('['.repeat(many)), many)).rejects.toThrow(refusal);
  });

  it.each([
    [1000, 0],
    [2_000_000, 2],
  ])('of %i bytes lets other work run %i times before it can be parsed', async (length, turns) => {
    const text = JSON.stringify('a'.repeat(length));
    let [ran, isOver] = [0, false];
    const count = () => {
      if (isOver) return;
      ran += 1;
      setImmediate(count);
    };
    const read = readJsonText(streamOf(text), 8_000_000);
    setImmediate(count);
    expect(await read).toBe(text);
    isOver = true;
    expect(ran).toBe(turns);
  });
});
