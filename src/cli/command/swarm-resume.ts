import type { Context, Invocation } from '../context.ts';
import { connect } from '../daemon.ts';
import { requireGh } from '../pull-request.ts';
import { concludeSwarm, projectOf } from '../swarm.ts';

type Options = { readonly project?: string; readonly detach?: boolean; readonly pr?: boolean };

export default async function swarmResume(context: Context, { args, options }: Invocation<Options>): Promise<number> {
  if (options.pr) await requireGh(options.detach ?? false);
  const client = connect(context);
  const body = { project: projectOf(options), ...(args.length === 0 ? {} : { names: [...args] }) };
  const begun = await client.call('resumeSwarm', { body });
  return concludeSwarm(context, client, begun, options);
}
