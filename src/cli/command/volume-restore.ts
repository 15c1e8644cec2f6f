import type { Context, Invocation } from '../context.ts';
import { connect } from '../daemon.ts';
import { during } from '../output/progress.ts';
import { plain } from '../output/text.ts';
import { absolute } from '../paths.ts';

export default async function volumeRestore(context: Context, { args }: Invocation): Promise<void> {
  const file = absolute(args[0]!, 'FILE');
  const asked = connect(context).call('restoreVolume', { body: { file } });
  const view = await during(context.out, 'restoring the volume', asked);
  for (const note of view.notes) context.out.warn(note);
  if (context.json) return context.out.document(view);
  context.out.print(plain(view.volume.name));
}
