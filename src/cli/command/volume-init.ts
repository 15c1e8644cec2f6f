import type { Context } from '../context.ts';
import { connect } from '../daemon.ts';
import { plain } from '../output/text.ts';

export default async function volumeInit(context: Context): Promise<void> {
  const volumes = await connect(context).call('initVolumes');
  if (context.json) return context.out.document(volumes);
  context.out.print(...volumes.map(({ name }) => plain(name)));
}
