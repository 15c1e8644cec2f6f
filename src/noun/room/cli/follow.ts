import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { messageLines } from '../../../client/output/message-text.ts';
import type { MessageView } from '../api.ts';
import { checkRoomName } from '../model/room.ts';
import { checkMessageId } from './message-id.ts';

interface Options {
  readonly after?: string;
}

export async function roomFollow(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const path = { name: checkRoomName(args[0]!) };
  const { after } = options;
  const query = after === undefined ? {} : { after: checkMessageId(after, '--after', path.name) };
  for await (const message of connect(context).sent<MessageView>('GET /v1/rooms/{name}/follow', { path, query })) {
    if (context.json) context.out.document(message, 0);
    else context.out.print(...messageLines(message, context.out));
  }
}
