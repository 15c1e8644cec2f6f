import { expect, it } from 'vitest';
import { sampleSpec } from '../../../../test/fixtures/sandbox.ts';
import { steadyClock } from '../../../lib/flow/steady-clock.ts';
import { initialStatus, type Sandbox, type SandboxStatus } from '../model.ts';
import { requireStale } from './stale.ts';

const day = 86_400_000;
const now = Date.parse('2026-03-31T00:00:00.000Z');
const ago = (days: number) => new Date(now - days * day).toISOString();

function ended(status: Partial<SandboxStatus>, createdAt = ago(30)): Sandbox {
  const end = { ...initialStatus, state: 'completed', startedAt: createdAt, ...status } as const;
  return { id: '1', name: 'box', createdAt, spec: sampleSpec, status: end };
}

const isStale = (sandbox: Sandbox, days = 7, at = now) => {
  try {
    requireStale(sandbox, days * day, at);
    return true;
  } catch {
    return false;
  }
};

it('a sandbox is stale exactly when it ended that long ago, to the millisecond', () => {
  expect(isStale(ended({ finishedAt: ago(7) }))).toBe(true);
  expect(isStale(ended({ finishedAt: new Date(now - 7 * day + 1).toISOString() }))).toBe(false);
});

it('a sandbox that runs, is pending or has no end time is not stale', () => {
  expect(isStale(ended({ state: 'running', finishedAt: ago(30) }))).toBe(false);
  expect(isStale(ended({ state: 'pending', finishedAt: null }))).toBe(false);
  expect(isStale(ended({ finishedAt: null }))).toBe(false);
  expect(isStale(ended({ finishedAt: 'yesterday' }))).toBe(false);
});

it('a sandbox that ended before it was created or in the future is not stale', () => {
  expect(isStale(ended({ finishedAt: '1970-01-01T00:00:00.000Z' }, ago(1)))).toBe(false);
  expect(isStale(ended({ finishedAt: ago(-400) }))).toBe(false);
});

it('a clock that is set ahead makes no sandbox stale, and time in which the machine sleeps counts', () => {
  let [wall, passed] = [now, 0];
  const clock = steadyClock(
    () => wall,
    () => passed,
  );
  const box = ended({ finishedAt: ago(0) });
  wall += 400 * day;
  expect(isStale(box, 7, clock())).toBe(false);
  wall = now - 400 * day;
  expect(isStale(box, 7, clock())).toBe(false);
  [wall, passed] = [now + 8 * day, 8 * day];
  expect(isStale(box, 7, clock())).toBe(true);
});
