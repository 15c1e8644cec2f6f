import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { nameCell, newVolume } from './volume.ts';

export async function volumeCreate(context: Context, { args }: Invocation): Promise<void> {
  const view = await connect(context).call('POST /v1/volumes/named', { body: { name: newVolume(args[0]!) } });
  if (context.json) return context.out.document(view);
  context.out.print(nameCell(view));
}
