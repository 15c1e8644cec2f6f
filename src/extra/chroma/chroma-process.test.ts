import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { soon } from '../../../test/fixtures/soon.ts';
import type { ChromaStatus } from './chroma.ts';
import { ChromaProcess } from './chroma-process.ts';
import type { ChromaUpstream } from './chroma-upstream.ts';

type Habit = 'answers' | 'ends at once' | 'answers once and ends' | 'never answers' | 'hangs after its first answer';

let folder: string;
let served: ChromaProcess;
let statuses: ChromaStatus[];
/** Waits of at least this length last until they are aborted. */
let holdMs: number;
/** The waits between two starts. */
let waits: number[];
let killed: NodeJS.Signals[];
let missed: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-server-'));
  [statuses, waits, killed, missed, holdMs] = [[], [], [], 0, Number.POSITIVE_INFINITY];
});
afterEach(async () => {
  await served.dispose();
  rmSync(folder, { recursive: true });
});

/**
 * A server with this habit, on a clock that advances only in waits. From start number `starts` on, the server answers.
 */
function serve(habit: Habit, starts = Number.POSITIVE_INFINITY): ChromaProcess {
  let nowMs = 0;
  let count = 0;
  let now: Habit = habit;
  let end = (_: string | null) => {};
  const start = () => {
    count += 1;
    now = count >= starts ? 'answers' : habit;
    const ended = new Promise<string | null>((resolve) => {
      end = resolve;
    });
    if (now === 'ends at once') end('no such file');
    const kill = (signal: NodeJS.Signals) => {
      killed.push(signal);
      end(null);
    };
    return { ended, kill };
  };
  const upstream = {
    version: async () => {
      if (now === 'ends at once' || now === 'never answers') throw new Error('refused');
      if (now === 'answers once and ends') setImmediate(() => end('it crashed'));
      return '1.0.0';
    },
    beat: async () => {
      if (now === 'answers') return;
      missed += 1;
      throw new Error('timed out');
    },
    close: () => {},
  } as unknown as ChromaUpstream;
  const pause = async (ms: number, signal?: AbortSignal): Promise<unknown> => {
    if (statuses.at(-1)?.state === 'failed') waits.push(ms);
    if (ms >= holdMs) return new Promise((resolve) => signal?.addEventListener('abort', resolve));
    nowMs += ms;
    return new Promise(setImmediate);
  };
  const options = { program: '', data: folder, port: 0, emptied: () => {} };
  const report = (status: ChromaStatus) => void statuses.push(status);
  served = new ChromaProcess({ ...options, report }, { start, upstream, pause, nowMs: () => nowMs });
  served.start();
  return served;
}

const growing = [0, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000];

test.each([
  ['ends at once', 'no such file'],
  ['answers once and ends', 'it crashed'],
  ['never answers', 'refused'],
  ['hangs after its first answer', 'it does not answer any more'],
] as const)(
  'a server that %s is started again with growing waits, and the status has the reason',
  async (habit, reason) => {
    serve(habit);
    await soon(() => expect(waits.length).toBeGreaterThanOrEqual(growing.length));
    expect(waits.slice(0, growing.length)).toEqual(growing);
    expect(statuses.findLast(({ state }) => state === 'failed')?.reason).toBe(reason);
  },
);

test('a server that hangs is killed after three heartbeats without an answer', async () => {
  serve('hangs after its first answer', 2);
  await soon(() =>
    expect(statuses.map(({ state }) => state)).toEqual(['starting', 'ready', 'failed', 'starting', 'ready']),
  );
  expect([killed, missed]).toEqual([['SIGKILL'], 3]);
});

test('a request to a server that is not ready fails with the reason', async () => {
  await expect(serve('never answers').ready()).rejects.toMatchObject({ code: 'unavailable' });
  await soon(() => expect(statuses.some(({ state }) => state === 'failed')).toBe(true));
  await expect(served.ready()).rejects.toThrow('the Chroma server is not ready: refused');
});

test('a stop ends the wait before the next start of a failed server', async () => {
  holdMs = 500;
  serve('ends at once');
  await soon(() => expect(waits).toEqual([0, 500]));
  await served.rest();
  expect(statuses.at(-1)?.state).toBe('resting');
});
