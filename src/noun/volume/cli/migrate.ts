import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { during } from '../../../client/output/progress.ts';
import { plain } from '../../../client/output/text.ts';
import { absolute } from '../../../client/paths.ts';
import type { MigrateView } from '../api.ts';

export async function volumeMigrate(context: Context, { args }: Invocation): Promise<void> {
  const folder = absolute(args[0]!, 'FOLDER');
  const asked = connect(context).call('POST /v1/volumes/migrate', { body: { folder } });
  const view = await during(context.out, 'copying volumes', asked);
  if (context.json) return context.out.document(view);
  context.out.print(...migrated(view));
  for (const { from, reason } of view.left) context.out.warn(`left ${from}: ${reason}`);
  if (view.migrated.length + view.left.length === 0) context.out.say(`${folder} has no volumes with older names`);
}

export function migrated(view: MigrateView): string[] {
  return view.migrated.map(({ from, to, already }) => `${plain(from)} → ${plain(to)}${already ? ' (earlier)' : ''}`);
}
