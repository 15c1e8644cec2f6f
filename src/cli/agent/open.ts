/** `carrel claude .`: the terminal program of an agent in the sandbox of a project. */
import type { AgentRequest } from '../../api/agent.ts';
import { Fault } from '../../model/fault.ts';
import { authorIn } from '../author.ts';
import type { Context, Invocation, Perform } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { askedEnv, type EnvOptions } from '../env.ts';
import { withTrust } from '../fleet/trust.ts';
import { during } from '../output/progress.ts';
import { absolute } from '../paths.ts';
import { askedNetwork, seenProject } from '../sandbox/request.ts';
import { attachTo } from '../stream/attach.ts';
import { terminalSize } from '../stream/terminal.ts';
import { onPath } from './on-path.ts';

export interface AgentOptions extends EnvOptions {
  readonly new?: boolean;
  readonly network?: string;
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
    return attachTo(context, client, sandbox.name, { terminal: true, again, drawn: how === 'running' });
  };
}

async function agentRequest(
  agent: string,
  { args, options, command }: Invocation<AgentOptions>,
): Promise<AgentRequest> {
  const { project, projectSeen } = seenProject(absolute(args[0] ?? '.', 'PROJECT'));
  const env = askedEnv(options);
  const author = await authorIn(project!);
  const program = onPath(agent);
  return {
    ...{ agent, project: project!, terminal: terminalSize() },
    ...(projectSeen === undefined ? {} : { projectSeen }),
    ...(options.new ? { new: true } : {}),
    ...(command.length > 0 ? { args: [...command] } : {}),
    ...(options.network === undefined ? {} : { network: askedNetwork(options.network) }),
    ...(env === undefined ? {} : { env }),
    ...(author === null ? {} : { author }),
    ...(program === null ? {} : { program }),
  };
}

function noTerminal(agent: string): Fault {
  return new Fault('invalid', `${agent} needs a terminal`, {
    hint: `For prompts of scripts there is: carrel session send SANDBOX TEXT --agent ${agent}`,
  });
}
