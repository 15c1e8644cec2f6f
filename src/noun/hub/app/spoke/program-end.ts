/** Describes for error messages how the program of the hub in a sandbox ended. */
import type { Exit, Process } from '../../../../kernel/engine/engine.ts';
import { withTimeout } from '../../../../lib/flow/with-timeout.ts';
import { printable } from '../../../../model/name.ts';

const endMs = 2000;
const maxErrorLength = 300;

/** Includes the end of what the program wrote to stderr. */
export function endOf(program: Process): () => Promise<string> {
  let stderr = '';
  program.stderr.on('data', (chunk: Buffer) => {
    stderr = `${stderr}${chunk}`.slice(-maxErrorLength);
  });
  return async () => {
    const exit = await withTimeout<Exit | null>(endMs, program.exited, () => null).catch(() => null);
    if (exit === null) return 'its connection was closed';
    const how = exit.outOfMemory ? 'out of memory' : (exit.signal ?? `exit code ${exit.exitCode}`);
    return stderr.trim() === '' ? how : `${how}: ${printable(stderr.trim(), maxErrorLength)}`;
  };
}
