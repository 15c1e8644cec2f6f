import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';
import { projectOf } from './conclude.ts';

type Options = { readonly project?: string };

/** Prints a name and a status on each line, for scripts. */
export async function swarmList(context: Context, { options }: Invocation<Options>): Promise<void> {
  const { containers } = await connect(context).call('GET /v1/swarm', { query: { project: projectOf(options) } });
  if (context.json) context.out.document(containers);
  else context.out.print(...containers.map(({ containerName, status }) => `${plain(containerName)}\t${status}`));
}
