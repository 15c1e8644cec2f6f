/** Checks that the agent's program is installed before any story begins. */
import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';
import { AdapterError } from './adapter-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A relative path is relative to the checkout of each story, so it cannot be checked here. */
export function requireProgram([program = '']: readonly string[], { PATH = '' }: Environment): void {
  if (program.includes('/') && !program.startsWith('/')) return;
  const candidates = program.startsWith('/') ? [program] : PATH.split(':').map((folder) => join(folder, program));
  if (!candidates.some(runs)) throw notInstalled(program);
}

function runs(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

export function notInstalled(program: string): AdapterError {
  return AdapterError.of('AGENT_NOT_INSTALLED', `the agent's program ${program} is not installed in this sandbox`);
}
