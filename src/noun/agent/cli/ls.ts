import type { Context } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { onPath } from './on-path.ts';

export async function ls(context: Context): Promise<void> {
  const agents = await connect(context).call('GET /v1/agents');
  const found = agents.map((one) => ({ ...one, program: one.program ?? onPath(one.name) }));
  if (context.json) return context.out.document(found);
  const rows = found.map(({ name, program, version, key }) => [
    name,
    version ?? '-',
    key === null ? '-' : plain(key),
    program === null ? `none: carrel agent install ${name}` : plain(program),
  ]);
  context.out.print(...table([['AGENT', 'INSTALLED', 'KEY', 'PROGRAM'], ...rows]));
}
