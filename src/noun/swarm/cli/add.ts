import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { projectOf } from './conclude.ts';

type Options = { readonly project?: string };

export async function swarmAdd(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const [containerId, containerName, taskFilePath, branchName] = args as [string, string, string, string];
  const body = { project: projectOf(options), containerId, containerName, taskFilePath, branchName };
  context.out.document(await connect(context).call('POST /v1/swarm/add', { body }));
}
