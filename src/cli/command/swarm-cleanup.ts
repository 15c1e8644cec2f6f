import type { Context, Invocation } from '../context.ts';
import { connect } from '../daemon.ts';
import { projectOf } from '../swarm.ts';

type Options = { readonly project?: string };

export default async function swarmCleanup(context: Context, { options }: Invocation<Options>): Promise<void> {
  context.out.document(await connect(context).call('cleanSwarm', { body: { project: projectOf(options) } }));
}
