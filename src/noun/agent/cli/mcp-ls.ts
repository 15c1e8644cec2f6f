import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';

export async function mcpLs(context: Context, { args: [name = ''] }: Invocation): Promise<void> {
  const found = await connect(context).call('GET /v1/sandboxes/{name}/mcp', { path: { name } });
  if (context.json) return context.out.document(found);
  const rows = found.servers.map((one) => [one.name, one.from, one.url ?? one.command?.join(' ') ?? '']);
  if (rows.length > 0) context.out.print(...table([['NAME', 'FROM', 'SERVER'], ...rows]));
  else context.out.note('no MCP servers; --memory-scope, --memory-bank and --room give a sandbox some');
  for (const { name: one, from, reason } of found.skipped)
    context.out.warn(`${plain(one)} of ${from} is left out: ${plain(reason)}`);
}
