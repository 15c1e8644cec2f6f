/** Which sandboxes may be removed without force. */
import { Fault } from '../../../model/fault.ts';
import { hasEnded, type Sandbox } from '../model.ts';
import type { Removal } from '../sandbox.ts';

/** Refuses a sandbox that runs, that ended less than `staleMs` ago, or whose end is not known. */
export function requireStale(sandbox: Sandbox, staleMs: number, nowMs: number): void {
  const { name, status } = sandbox;
  if (!hasEnded(status)) throw new Fault('conflict', `${name} is not stale: it is ${status.state}`);
  const ended = endMs(sandbox);
  if (ended === null) throw new Fault('conflict', `${name} may not be stale: the time of its end is not known`);
  if (nowMs - ended < staleMs)
    throw new Fault('conflict', `${name} is not stale: it ended ${Math.floor((nowMs - ended) / 1000)} s ago`);
}

/** If the clock was set back, a sandbox may end before it began; so the latest time in its record counts. */
function endMs({ createdAt, status: { startedAt, finishedAt } }: Sandbox): number | null {
  if (finishedAt === null) return null;
  const times = [createdAt, startedAt, finishedAt].filter((at) => at !== null).map((at) => Date.parse(at));
  const latest = Math.max(...times);
  return Number.isNaN(latest) ? null : latest;
}

/** Called before it is known whether changes would be lost. */
export function requireRemovable(sandbox: Sandbox, { force, running, staleMs }: Removal, nowMs: number): void {
  const { name, status } = sandbox;
  if (staleMs !== undefined) requireStale(sandbox, staleMs, nowMs);
  if (hasEnded(status) || force || running) return;
  throw new Fault('conflict', `${name} is ${status.state}`, { hint: `Stop it first, or: carrel rm --force ${name}` });
}
