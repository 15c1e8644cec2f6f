import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { projectOf } from './conclude.ts';

type Options = { readonly project?: string; readonly force?: boolean };

export async function swarmInit(context: Context, { options }: Invocation<Options>): Promise<void> {
  const body = { project: projectOf(options), force: options.force ?? false };
  context.out.document(await connect(context).call('POST /v1/swarm/init', { body }));
}
