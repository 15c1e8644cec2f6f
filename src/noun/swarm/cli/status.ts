import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { projectOf } from './conclude.ts';
import { followSwarm } from './follow.ts';
import { swarmNotes, swarmTable } from './view.ts';

type Options = { readonly project?: string };

export async function swarmStatus(context: Context, { options }: Invocation<Options>): Promise<void> {
  const { out } = context;
  const project = projectOf(options);
  const client = connect(context);
  if (context.json) return out.document(await client.call('GET /v1/swarm', { query: { project } }));
  if (out.columns !== null) return void (await followSwarm(client, out, project));
  const view = await client.call('GET /v1/swarm/show', { query: { project } });
  out.print(...swarmTable(view, out), ...swarmNotes(view, out));
}
