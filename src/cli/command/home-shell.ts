import type { Context, Invocation } from '../context.ts';
import type { SandboxOptions } from '../request.ts';
import run from './run.ts';
import { bestShell } from './shell.ts';

/** A sandbox that has the user's home itself instead of one laid over it, and is removed at the end. */
export default function homeShell(context: Context, invocation: Invocation<SandboxOptions>): Promise<number> {
  const options = { ...invocation.options, home: 'shared', rm: true } as const;
  const command = invocation.command.length === 0 ? bestShell : invocation.command;
  return run(context, { ...invocation, args: [], options, command });
}
