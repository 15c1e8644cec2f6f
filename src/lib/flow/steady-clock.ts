/**
 * A clock without jumps ahead: at most the time of the start plus the time that has passed since by the boot clock,
 * which cannot be set and runs during suspend. Code that removes old things uses it, so that setting the system clock
 * ahead makes nothing older.
 */
import { uptime } from 'node:os';

export function steadyClock(wallMs = () => Date.now(), passedMs = () => uptime() * 1000): () => number {
  const [wall, passed] = [wallMs(), passedMs()];
  return () => Math.min(wallMs(), wall + passedMs() - passed);
}
