import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';
import { checkRoomName } from '../model/room.ts';

interface Options {
  readonly force?: boolean;
}

export async function roomRm(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const query = options.force ? { force: true } : {};
  const path = { name: checkRoomName(args[0]!) };
  const view = await connect(context).call('DELETE /v1/rooms/{name}', { path, query });
  if (context.json) return context.out.document(view);
  context.out.print(plain(view.name));
  const { folder, isFolderRemoved } = view;
  context.out.note(isFolderRemoved ? `removed ${folder} with its messages` : `${folder} stays, with its messages`);
}
