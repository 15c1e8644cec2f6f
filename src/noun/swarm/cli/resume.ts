import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { withTrust } from '../../../client/project-file/trust.ts';
import { type ChoiceOptions, swarmChoice } from './choice.ts';
import { concludeSwarm, projectOf } from './conclude.ts';
import { requireGh } from './pull-request.ts';

interface Options extends ChoiceOptions {
  readonly project?: string;
  readonly pr?: boolean;
}

export async function swarmResume(context: Context, { args, options }: Invocation<Options>): Promise<number> {
  if (options.pr) await requireGh(options.detach ?? false);
  const client = connect(context);
  const project = projectOf(options);
  const names = args.length === 0 ? {} : { names: [...args] };
  const body = { project, ...names, ...(await swarmChoice(context, client, project, options)) };
  const begun = await withTrust(context, client, () => client.call('POST /v1/swarm/resume', { body }));
  return concludeSwarm(context, client, begun, options, body.sandbox);
}
