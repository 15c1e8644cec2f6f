import { describe, expect, it } from 'vitest';
import type { LogLine } from '../../engine.ts';
import { LogPosition } from './log-position.ts';

const at = (second: number) => `2026-01-01T00:00:0${second}.000000000Z`;

function record(second: number, text: string, stream: LogLine['stream'] = 'stdout'): LogLine {
  return { at: at(second), stream, bytes: Buffer.from(text) };
}

async function rest(passed: readonly LogLine[], all: readonly LogLine[]): Promise<string[]> {
  const position = new LogPosition();
  for (const one of passed) position.pass(one);
  const found: string[] = [];
  for await (const { bytes } of position.after(stream(all))) found.push(bytes.toString());
  return found;
}

async function* stream(records: readonly LogLine[]): AsyncGenerator<LogLine> {
  yield* records;
}

describe('the position in a log', () => {
  it('is before everything at first', async () => {
    expect(new LogPosition().since).toBeNull();
    expect(await rest([], [record(1, 'a'), record(2, 'b')])).toEqual(['a', 'b']);
  });

  it('is after the last record, also among pieces with the same time', async () => {
    const all = [record(1, 'a'), record(2, 'b1'), record(2, 'b2'), record(2, 'b3'), record(3, 'c')];
    expect(await rest(all.slice(0, 3), all)).toEqual(['b3', 'c']);
    expect(await rest(all, all)).toEqual([]);
  });

  it('follows the order of the log if a later record has an earlier time', async () => {
    const all = [record(2, 'out'), record(1, 'err', 'stderr'), record(2, 'err', 'stderr')];
    expect(await rest(all.slice(0, 1), all)).toEqual(['err', 'err']);
    expect(await rest(all.slice(0, 2), all)).toEqual(['err']);
  });

  it('follows the time if the log no longer holds the record', async () => {
    expect(await rest([record(1, 'a')], [record(2, 'b'), record(3, 'c')])).toEqual(['b', 'c']);
  });

  it('asks from shortly before the last record', () => {
    const position = new LogPosition();
    position.pass(record(5, 'a'));
    expect(position.since).toBe(String(Date.parse(at(4)) / 1000));
  });
});
