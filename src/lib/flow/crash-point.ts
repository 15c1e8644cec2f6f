import { unlinkSync } from 'node:fs';
import { readIfThere } from '../file/file.ts';

/**
 * A point between two steps where tests end the process as a power cut would. Does nothing unless CARREL_CRASH_AT is
 * its name, or the path of a file that contains its name. A test can write such a file while the daemon runs; the file
 * is removed when it takes effect.
 */
export function crashPoint(name: string): void {
  const wanted = process.env.CARREL_CRASH_AT;
  if (wanted === undefined) return;
  if (wanted.startsWith('/') ? takeFrom(wanted, name) : wanted === name) process.kill(process.pid, 'SIGKILL');
}

function takeFrom(path: string, name: string): boolean {
  if (readIfThere(path) !== name) return false;
  unlinkSync(path);
  return true;
}
