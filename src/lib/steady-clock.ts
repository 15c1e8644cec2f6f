/**
 * The time, without leaps ahead: no later than that of the start and what has passed since by a clock that nobody sets and
 * that runs while the machine sleeps. For whoever removes what is old: after the clock was set ahead nothing is older.
 */
import { uptime } from 'node:os';

export function steadyClock(wallMs = () => Date.now(), passedMs = () => uptime() * 1000): () => number {
  const [wall, passed] = [wallMs(), passedMs()];
  return () => Math.min(wallMs(), wall + passedMs() - passed);
}
