import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { parseCount } from '../../../client/option.ts';
import { messageLines } from '../../../client/output/message-text.ts';
import { checkRoomName } from '../model/room.ts';
import { checkMessageId } from './message-id.ts';

interface Options {
  readonly unread?: boolean;
  readonly after?: string;
  readonly limit?: string;
  readonly search?: string;
  readonly archived?: boolean;
  readonly peek?: boolean;
}

export async function roomRead(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const client = connect(context);
  const path = { name: checkRoomName(args[0]!) };
  const { unread, after, limit, search, archived } = options;
  const query = {
    ...{ unread, search, archived },
    ...(after === undefined ? {} : { after: checkMessageId(after, '--after', path.name) }),
    ...(limit === undefined ? {} : { limit: parseCount(limit, '--limit', 1) }),
  };
  const messages = await client.call('GET /v1/rooms/{name}/messages', { path, query });
  if (context.json) context.out.document(messages);
  else context.out.print(...messages.flatMap((message) => messageLines(message, context.out)).slice(0, -1));
  if (messages.length === 0) context.out.note(unread ? 'nothing unread' : 'no messages');
  const last = messages.at(-1);
  // A search or an archive skips messages, so it does not move the position of the reader.
  if (last === undefined || options.peek || search !== undefined || archived) return;
  await client.call('POST /v1/rooms/{name}/position', { path, body: { id: last.id } });
}
