import type { ExecRequest } from '../../api/routes.ts';
import { Fault } from '../../model/fault.ts';
import { checkSandboxName } from '../../model/name.ts';
import type { Context, Invocation } from '../context.ts';
import { connect } from '../daemon.ts';
import { parseEnv } from '../option.ts';
import { interact } from '../stream/interactive.ts';
import { terminalSize } from '../stream/terminal.ts';

interface Options {
  readonly interactive?: boolean;
  readonly tty?: boolean;
  readonly env?: readonly string[];
  readonly cwd?: string;
  readonly bound?: boolean;
}

export default async function exec(context: Context, invocation: Invocation<Options>): Promise<number> {
  const name = checkSandboxName(invocation.args[0]!);
  if (invocation.command.length === 0) {
    throw new Fault('invalid', 'exec needs a command', { hint: `Put it after --: carrel exec ${name} -- CMD…` });
  }
  return interact(connect(context), context.out, name, execRequest(invocation));
}

function execRequest({ options, command }: Invocation<Options>): ExecRequest {
  return {
    command: [...command],
    stdin: options.interactive === true,
    ...(options.env === undefined ? {} : { env: parseEnv(options.env) }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.tty ? { terminal: terminalSize() } : {}),
    ...(options.bound ? { bound: true } : {}),
  };
}
