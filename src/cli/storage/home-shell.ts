import type { Context, Invocation } from '../cli.ts';
import type { SandboxOptions } from '../sandbox/request.ts';
import run from '../sandbox/run.ts';
import { bestShell } from '../sandbox/shell.ts';

/** A sandbox that has the user's home itself instead of one laid over it, and is removed at the end. */
export default function homeShell(context: Context, invocation: Invocation<SandboxOptions>): Promise<number> {
  const options = { ...invocation.options, home: 'shared', rm: true } as const;
  const command = invocation.command.length === 0 ? bestShell : invocation.command;
  return run(context, { ...invocation, args: [], options, command });
}
