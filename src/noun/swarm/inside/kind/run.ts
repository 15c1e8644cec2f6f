/** Runs a program with one input: passes its lines on, returns its exit code. */
import type { Readable } from 'node:stream';
import { Lines } from '../../../../lib/wire/lines.ts';
import { Group } from '../../../agent/inside/group.ts';
import type { Assignment } from '../inside.ts';

/** Agents write whole files into one line of JSON. */
const maxLineBytes = 8 * 1024 ** 2;

export interface Run {
  readonly command: readonly string[];
  readonly input: string;
  /** Called with all lines that arrived at once. */
  readonly onOutput: (lines: readonly string[]) => void;
  readonly onError: (lines: readonly string[]) => void;
}

export async function runAgent({ folder, env }: Assignment, run: Run, signal: AbortSignal): Promise<number> {
  const group = new Group({ command: run.command, cwd: folder, env });
  const stop = () => void group.stop();
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  eachLine(group.stdout, run.onOutput);
  eachLine(group.stderr, run.onError);
  group.stdin.end(run.input);
  try {
    return await group.ended;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function eachLine(stream: Readable, take: (lines: readonly string[]) => void): void {
  const lines = new Lines(maxLineBytes);
  stream.on('data', (chunk: Buffer) => take(lines.push(chunk)));
  stream.on('end', () => take(lines.end()));
  // The program has ended; its output so far was read.
  stream.on('error', () => {});
}
