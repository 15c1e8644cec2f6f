import { unlinkSync } from 'node:fs';
import { readIfThere } from './file.ts';

/**
 * A point between two steps where tests end the process as a power cut would. Does nothing unless CARREL_CRASH_AT names it,
 * or is the path of a file that does: with a file, a running daemon can get one, and it is used once.
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
