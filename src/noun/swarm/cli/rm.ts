import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';
import { projectOf } from './conclude.ts';

type Options = { readonly project?: string };

export async function swarmRemove(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const body = { project: projectOf(options), containerName: args[0]! };
  const removed = await connect(context).call('POST /v1/swarm/remove', { body });
  if (context.json) context.out.document(removed);
  else context.out.print(`Removed container: ${plain(removed.containerName)}`);
}
