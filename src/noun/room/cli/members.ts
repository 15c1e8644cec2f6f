import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import type { MemberView } from '../api.ts';
import { checkParticipantName, checkRoomName } from '../model/room.ts';

interface Options {
  readonly add?: string;
  readonly remove?: string;
}

export async function roomMembers(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const path = { name: checkRoomName(args[0]!) };
  const members = await changedMembers(context, path, options);
  if (context.json) return context.out.document(members);
  if (members.length === 0) return context.out.note('no participants; they are added when they post');
  context.out.print(...memberListing(members));
}

function changedMembers(context: Context, path: { readonly name: string }, { add, remove }: Options) {
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
