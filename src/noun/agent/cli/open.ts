/** `carrel claude .`: the terminal program of an agent in the sandbox of a project. */

import { authorIn } from '../../../client/author.ts';
import type { Context, Invocation, Perform } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { type EnvOptions, envFrom } from '../../../client/env.ts';
import { during } from '../../../client/output/progress.ts';
import { absolute } from '../../../client/paths.ts';
import { withTrust } from '../../../client/project-file/trust.ts';
import { terminalSize } from '../../../client/stream/terminal.ts';
import type { EngineName } from '../../../model/engine.ts';
import { Fault } from '../../../model/fault.ts';
import { type GrantOptions, grantsFrom, networkFrom, seenProject, servicesFrom } from '../../sandbox/cli/request.ts';
import { attachTo } from '../../sandbox/cli/stream/attach.ts';
import type { AgentRequest } from '../api.ts';
import { hasLogin } from './host-login.ts';
import { onPath } from './on-path.ts';

export interface AgentOptions extends EnvOptions, GrantOptions {
  readonly new?: boolean;
  readonly engine?: EngineName;
  readonly network?: string;
  readonly service?: readonly string[];
}

/** The command of one agent. */
export function opens(agent: string): Perform {
  return async (context: Context, invocation: Invocation<AgentOptions>) => {
    if (!process.stdin.isTTY || !process.stdout.isTTY || context.json) throw noTerminal(agent);
    const client = connect(context);
    const body = await agentRequest(agent, invocation);
    const { sandbox, how } = await withTrust(context, client, () =>
      during(context.out, 'starting the sandbox', client.call('POST /v1/agents', { body })),
    );
    const again = `carrel ${agent} ${invocation.args[0] ?? '.'}`;
    const { name, engine } = sandbox;
    const shown = { terminal: true, again, drawn: how === 'running', lineLog: engine === 'docker' };
    const exitCode = await attachTo(context, client, name, shown);
    context.out.note(`${name} has ended; ${again} starts it again`);
    context.out.note(`carrel diff ${name} shows its changes`);
    return exitCode;
  };
}

async function agentRequest(
  agent: string,
  { args, options, command }: Invocation<AgentOptions>,
): Promise<AgentRequest> {
  const { project, projectSeen } = seenProject(absolute(args[0] ?? '.', 'PROJECT'));
  const env = envFrom(options);
  const author = await authorIn(project!);
  const program = onPath(agent);
  return {
    ...{ agent, project: project!, terminal: terminalSize() },
    ...(projectSeen === undefined ? {} : { projectSeen }),
    ...(options.new ? { new: true } : {}),
    ...(command.length > 0 ? { args: [...command] } : {}),
    ...(options.engine === undefined ? {} : { engine: options.engine }),
    ...(options.network === undefined ? {} : { network: networkFrom(options.network) }),
    ...servicesFrom(options.service),
    ...grantsFrom(options),
    ...(env === undefined ? {} : { env }),
    ...(author === null ? {} : { author }),
    ...(program === null ? {} : { program }),
    ...(hasLogin(agent) ? { hasLogin: true } : {}),
  };
}

function noTerminal(agent: string): Fault {
  return new Fault('invalid', `${agent} needs a terminal`, {
    hint: `A script sends prompts with: carrel session send SANDBOX TEXT --agent ${agent}`,
  });
}
