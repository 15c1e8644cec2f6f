import type { Context, Invocation } from '../context.ts';
import { connect } from '../daemon.ts';
import { projectOf } from '../swarm.ts';

type Options = { readonly project?: string; readonly force?: boolean };

export default async function swarmInit(context: Context, { options }: Invocation<Options>): Promise<void> {
  const body = { project: projectOf(options), force: options.force ?? false };
  context.out.document(await connect(context).call('initSwarm', { body }));
}
