import { resolve } from 'node:path';
import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { parseCount, parseNumber } from '../../../client/option.ts';
import { age } from '../../../client/output/age.ts';
import { messageLines } from '../../../client/output/message-text.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import type { MemberView, MessageView, RoomView } from '../api.ts';
import { checkParticipantName, checkRoomName } from '../model/room.ts';
import { checkMessageId } from './message-id.ts';

interface CreateOptions {
  readonly at?: string;
  readonly keepDays?: string;
  readonly keepMessages?: string;
}

export async function roomCreate(context: Context, { args, options }: Invocation<CreateOptions>): Promise<void> {
  const { at, keepDays, keepMessages } = options;
  const body = {
    name: checkRoomName(args[0]!),
    ...(at === undefined ? {} : { at: resolve(at) }),
    ...(keepDays === undefined ? {} : { keepDays: parseNumber(keepDays, '--keep-days') }),
    ...(keepMessages === undefined ? {} : { keepMessages: parseCount(keepMessages, '--keep-messages', 1) }),
  };
  const answer = connect(context).call('POST /v1/rooms', { body });
  const view = await printAnswer(context, answer, ({ name }) => plain(name));
  context.out.note(`its files are in ${view.folder}`);
}

export async function roomLs(context: Context): Promise<void> {
  const answer = connect(context).call('GET /v1/rooms');
  const rooms = await printAnswer(context, answer, roomListing, {
    empty: 'no rooms; create one with: carrel room create NAME',
  });
  for (const { name, trouble } of rooms) if (trouble !== null) context.out.warn(`room ${name}: ${trouble}`);
}

export function roomListing(rooms: readonly RoomView[], now?: number): string[] {
  const rows = rooms.map(({ name, messages, unread, createdAt, folder }) => [
    plain(name),
    messages === null ? '?' : String(messages),
    unread === null ? '?' : String(unread),
    age(createdAt, now),
    plain(folder),
  ]);
  return table([['NAME', 'MESSAGES', 'UNREAD', 'AGE', 'FOLDER'], ...rows]);
}

interface ReadOptions {
  readonly unread?: boolean;
  readonly after?: string;
  readonly limit?: string;
  readonly search?: string;
  readonly archived?: boolean;
  readonly peek?: boolean;
}

export async function roomRead(context: Context, { args, options }: Invocation<ReadOptions>): Promise<void> {
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

export async function roomFollow(
  context: Context,
  { args, options }: Invocation<{ readonly after?: string }>,
): Promise<void> {
  const path = { name: checkRoomName(args[0]!) };
  const { after } = options;
  const query = after === undefined ? {} : { after: checkMessageId(after, '--after', path.name) };
  for await (const message of connect(context).sent<MessageView>('GET /v1/rooms/{name}/follow', { path, query })) {
    if (context.json) context.out.document(message, 0);
    else context.out.print(...messageLines(message, context.out));
  }
}

interface MembersOptions {
  readonly add?: string;
  readonly remove?: string;
}

export async function roomMembers(context: Context, { args, options }: Invocation<MembersOptions>): Promise<void> {
  const path = { name: checkRoomName(args[0]!) };
  const members = await changedMembers(context, path, options);
  if (context.json) return context.out.document(members);
  if (members.length === 0) return context.out.note('no participants; they are added when they post');
  context.out.print(...memberListing(members));
}

function changedMembers(context: Context, path: { readonly name: string }, { add, remove }: MembersOptions) {
  const client = connect(context);
  if (add === undefined && remove === undefined) return client.call('GET /v1/rooms/{name}/members', { path });
  const body = {
    ...(add === undefined ? {} : { add: checkParticipantName(add) }),
    ...(remove === undefined ? {} : { remove: checkParticipantName(remove) }),
  };
  return client.call('POST /v1/rooms/{name}/members', { path, body });
}

export function memberListing(members: readonly MemberView[], now?: number): string[] {
  const ago = (at: string | null) => (at === null ? '-' : `${age(at, now)} ago`);
  const rows = members.map(({ name, kind, lastPostAt, lastReadAt, unread, inbox }) => [
    plain(name),
    kind ?? 'mentioned',
    ago(lastPostAt),
    ago(lastReadAt),
    String(unread),
    kind === 'outside' && inbox !== null ? plain(inbox) : '',
  ]);
  return table([['NAME', 'KIND', 'POSTED', 'READ', 'UNREAD', 'INBOX'], ...rows]);
}

export async function roomRm(
  context: Context,
  { args, options }: Invocation<{ readonly force?: boolean }>,
): Promise<void> {
  const query = options.force ? { force: true } : {};
  const path = { name: checkRoomName(args[0]!) };
  const answer = connect(context).call('DELETE /v1/rooms/{name}', { path, query });
  const view = await printAnswer(context, answer, ({ name }) => plain(name));
  const { folder, isFolderRemoved } = view;
  context.out.note(isFolderRemoved ? `removed ${folder} with its messages` : `${folder} stays, with its messages`);
}
