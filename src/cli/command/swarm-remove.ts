import type { Context, Invocation } from '../context.ts';
import { connect } from '../daemon.ts';
import { plain } from '../output/text.ts';
import { projectOf } from '../swarm.ts';

type Options = { readonly project?: string };

export default async function swarmRemove(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const body = { project: projectOf(options), containerName: args[0]! };
  const removed = await connect(context).call('removeContainer', { body });
  if (context.json) context.out.document(removed);
  else context.out.print(`Removed container: ${plain(removed.containerName)}`);
}
