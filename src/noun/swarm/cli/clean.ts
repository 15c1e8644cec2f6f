import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { projectOf } from './conclude.ts';

type Options = { readonly project?: string };

export async function swarmCleanup(context: Context, { options }: Invocation<Options>): Promise<void> {
  context.out.document(
    await connect(context).call('POST /v1/swarm/cleanup', { body: { project: projectOf(options) } }),
  );
}
