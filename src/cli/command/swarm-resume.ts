import type { Context, Invocation } from '../context.ts';
import { connect } from '../daemon.ts';
import { concludeSwarm, projectOf } from '../swarm.ts';

type Options = { readonly project?: string; readonly detach?: boolean };

export default async function swarmResume(context: Context, { args, options }: Invocation<Options>): Promise<number> {
  const client = connect(context);
  const body = { project: projectOf(options), ...(args.length === 0 ? {} : { names: [...args] }) };
  const begun = await client.call('resumeSwarm', { body });
  return concludeSwarm(context, client, begun, options.detach ?? false);
}
