import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { during } from '../../../client/output/progress.ts';
import { projectOf } from './conclude.ts';
import { swarmTable } from './view.ts';

type Options = { readonly project?: string };

export async function swarmStop(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const body = { project: projectOf(options), ...(args.length === 0 ? {} : { names: [...args] }) };
  const stopping = connect(context).call('POST /v1/swarm/stop', { body });
  const view = await during(context.out, 'stopping the swarm', stopping);
  if (context.json) context.out.document(view);
  else context.out.print(...swarmTable(view, context.out));
}
