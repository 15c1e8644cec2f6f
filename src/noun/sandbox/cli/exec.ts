import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { type EnvOptions, envFrom } from '../../../client/env.ts';
import type { Output } from '../../../client/output/output.ts';
import { Fault } from '../../../model/fault.ts';
import { checkSandboxName } from '../../../model/name.ts';
import type { ExecRequest } from '../api.ts';
import { interact } from './stream/interactive.ts';
import { chosenStreams, type StreamOptions, terminalEnv } from './stream/stream-options.ts';

interface Options extends StreamOptions, EnvOptions {
  readonly cwd?: string;
  readonly bound?: boolean;
}

export async function exec(context: Context, invocation: Invocation<Options>): Promise<number> {
  const name = checkSandboxName(invocation.args[0]!);
  if (invocation.command.length === 0) {
    throw new Fault('invalid', 'exec needs a command', { hint: `Put it after the name: carrel exec ${name} CMD…` });
  }
  return interact(connect(context), context.out, name, execRequest(invocation, context.out));
}

function execRequest({ options, command }: Invocation<Options>, out: Output): ExecRequest {
  const streams = chosenStreams(options, out, false);
  return {
    command: [...command],
    stdin: streams.stdin,
    env: { ...terminalEnv(streams), ...envFrom(options) },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(streams.terminal ? { terminal: streams.terminal } : {}),
    ...(options.bound ? { bound: true } : {}),
  };
}
