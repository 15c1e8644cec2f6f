import type { Context, Invocation } from '../../../client/cli.ts';
import { bestShell } from '../../sandbox/cli/commands.ts';
import type { SandboxOptions } from '../../sandbox/cli/request.ts';
import { run } from '../../sandbox/cli/run.ts';

/** Runs a sandbox with the user's home itself instead of an overlay over it, and removes the sandbox at the end. */
export function homeShell(context: Context, invocation: Invocation<SandboxOptions>): Promise<number> {
  const options = { ...invocation.options, home: 'shared', rm: true } as const;
  const command = invocation.command.length === 0 ? bestShell : invocation.command;
  return run(context, { ...invocation, args: [], options, command });
}
