import type { Context } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { table } from '../../../client/output/table.ts';

export async function hubTools(context: Context): Promise<void> {
  const tools = await connect(context).call('GET /v1/hub/tools');
  if (context.json) return context.out.document(tools);
  const rows = tools.map(({ name, group, changes, description }) => [name, group, changes ? 'yes' : 'no', description]);
  context.out.print(...table([['TOOL', 'GROUP', 'CHANGES', 'DESCRIPTION'], ...rows]));
}
