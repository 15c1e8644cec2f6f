/** The agent's program: looked for before any story is begun, so that none of them fails for want of it. */
import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';
import { Setback } from './agent.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A path that is not absolute is one in the checkout of each story. */
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

export function notInstalled(program: string): Setback {
  return Setback.of('AGENT_NOT_INSTALLED', `the agent's program ${program} is not installed in this sandbox`);
}
