import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { during } from '../../../client/output/progress.ts';
import { plain } from '../../../client/output/text.ts';
import { checkVolume } from './volume.ts';
import { volumeWork } from './work.ts';

export async function volumeBackup(context: Context, { args }: Invocation): Promise<void> {
  const name = checkVolume(args[0]!);
  const asked = connect(context).call('POST /v1/volumes/{name}/backup', { path: { name } });
  const doing = volumeWork(
    context,
    `packing ${name}`,
    (work) => work.doing === 'packing' && [work.name, work.label ?? work.type].includes(name),
  );
  const view = await during(context.out, doing, asked);
  for (const note of view.notes) context.out.warn(note);
  if (context.json) return context.out.document(view);
  context.out.print(plain(view.file));
}
