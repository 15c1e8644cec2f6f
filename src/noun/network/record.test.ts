import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type EndedAttempt, RecordFile, type RecordLine, readRecord } from './record.ts';

let folder: string;
let file: RecordFile;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-record-'));
  file = new RecordFile(folder);
});
afterEach(() => {
  file.close();
  rmSync(folder, { recursive: true });
});

function line(attempt: string, reason: string | null = null): EndedAttempt {
  return { at: '2026-01-01T00:00:00.000Z', attempt, sentBytes: 0, receivedBytes: 0, durationMs: 0, reason };
}

async function all(tail: number | null = null): Promise<RecordLine[]> {
  const lines: RecordLine[] = [];
  const options = { follow: false, tail, signal: new AbortController().signal };
  for await (const one of readRecord(folder, options)) lines.push(one);
  return lines;
}

it('a record has each line as it was written, and the last ones on demand', async () => {
  expect(await all()).toEqual([]);
  for (const attempt of ['1', '2', '3']) file.write(line(attempt));
  expect(await all()).toEqual([line('1'), line('2'), line('3')]);
  expect(await all(2)).toEqual([line('2'), line('3')]);
});

it('a record has a maximum size, and keeps the newest lines', async () => {
  const long = 'x'.repeat(100_000);
  for (let at = 0; at < 25_000; at += 1) file.write(line(String(at), long));
  const bytes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
  expect(Math.max(...bytes)).toBeLessThanOrEqual(2 * 1024 ** 2);
  expect(bytes.length).toBeLessThanOrEqual(3);
  const lines = await all();
  expect(lines.at(-1)!.attempt).toBe('24999');
  expect(lines.at(-1)!.reason!.length).toBeLessThan(400);
});

it('a record continues after a line that a crash cut off', async () => {
  file.write(line('1'));
  file.close();
  appendFileSync(join(folder, 'network.ndjson'), '{"at":"2026');
  file.write(line('2'));
  expect(await all()).toEqual([line('1'), line('2')]);
});

it('a record can be followed', async () => {
  file.write(line('1'));
  const abort = new AbortController();
  const seen: string[] = [];
  for await (const { attempt } of readRecord(folder, { follow: true, tail: null, signal: abort.signal })) {
    seen.push(attempt);
    if (attempt === '1') file.write(line('2'));
    if (attempt === '2') abort.abort();
  }
  expect(seen).toEqual(['1', '2']);
});
