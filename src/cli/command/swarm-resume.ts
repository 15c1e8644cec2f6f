import type { Context, Invocation } from '../context.ts';
import { connect } from '../daemon.ts';
import { requireGh } from '../pull-request.ts';
import { concludeSwarm, projectOf } from '../swarm.ts';
import { type ChoiceOptions, swarmChoice } from '../swarm-choice.ts';
import { withTrust } from '../trust.ts';

interface Options extends ChoiceOptions {
  readonly project?: string;
  readonly pr?: boolean;
}

export default async function swarmResume(context: Context, { args, options }: Invocation<Options>): Promise<number> {
  if (options.pr) await requireGh(options.detach ?? false);
  const client = connect(context);
  const project = projectOf(options);
  const names = args.length === 0 ? {} : { names: [...args] };
  const body = { project, ...names, ...(await swarmChoice(context, client, project, options)) };
  const begun = await withTrust(context, client, () => client.call('resumeSwarm', { body }));
  return concludeSwarm(context, client, begun, options, body.sandbox);
}
