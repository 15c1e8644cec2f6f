import type { Context } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';

export async function netPresets(context: Context): Promise<void> {
  const presets = await connect(context).call('GET /v1/network/presets');
  if (context.json) return context.out.document(presets);
  const rows = presets.map(({ name, hosts }) => [plain(name), hosts.map(plain).join(' ')]);
  context.out.print(...table([['PRESET', 'HOSTS'], ...rows]));
  for (const { name, found } of presets)
    for (const { rule, file } of found)
      context.out.note(`${plain(rule)} is in ${plain(name)} because of ${plain(file)}`);
}
