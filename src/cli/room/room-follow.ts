import type { MessageView } from '../../api/room.ts';
import { checkRoomName } from '../../model/room.ts';
import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { checkMessageId } from './message-id.ts';
import { messageLines } from './message-text.ts';

interface Options {
  readonly after?: string;
}

export default async function roomFollow(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const path = { name: checkRoomName(args[0]!) };
  const { after } = options;
  const query = after === undefined ? {} : { after: checkMessageId(after, '--after', path.name) };
  for await (const message of connect(context).sent<MessageView>('GET /v1/rooms/{name}/follow', { path, query })) {
    if (context.json) context.out.document(message, 0);
    else context.out.print(...messageLines(message, context.out));
  }
}
