import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { terminalSize } from '../../../client/stream/terminal.ts';
import { Fault } from '../../../model/fault.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { interact } from './stream/interactive.ts';

/** An image without a shell may still have other programs to run. */
function noShell(name: string): Fault {
  return new Fault('unsupported', `${name} has no shell: its image has no /bin/sh`, {
    hint: `Run a program that it has: carrel exec -it ${name} -- PROGRAM`,
  });
}

export const bestShell = ['/bin/sh', '-c', 'exec $(command -v bash || echo sh) -l'];

export async function shell(context: Context, { args }: Invocation): Promise<number> {
  const name = checkSandboxName(args[0]!);
  const env = process.env.TERM ? { TERM: process.env.TERM } : {};
  const request = { command: bestShell, env, stdin: true, bound: true };
  // Without a terminal the shell reads commands from the pipe until its end.
  const terminal = process.stdin.isTTY ? { terminal: terminalSize() } : {};
  return interact(connect(context), context.out, name, { ...request, ...terminal }, () => noShell(name));
}
