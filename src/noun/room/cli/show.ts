import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import { counted } from '../../../client/output/count.ts';
import { messageLines } from '../../../client/output/message-text.ts';
import type { Output } from '../../../client/output/output.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import type { MemberView, RefusalView, RoomDetailView } from '../api.ts';
import { checkRoomName } from '../model/room.ts';

interface Options {
  readonly refused?: boolean;
  readonly repair?: boolean;
}

export async function roomShow(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const path = { name: checkRoomName(args[0]!) };
  if (options.refused) return showRefused(context, path);
  const query = { repair: options.repair };
  const answer = connect(context).call('GET /v1/rooms/{name}', { path, query });
  const view = await printAnswer(context, answer, (room) => description(room, context.out));
  if (view.repaired > 0) context.out.say(`wrote ${counted(view.repaired, 'file')} again that differed from the room`);
}

async function showRefused(context: Context, path: { readonly name: string }): Promise<void> {
  const answer = connect(context).call('GET /v1/rooms/{name}/refused', { path });
  await printAnswer(context, answer, refusalListing, { empty: 'nothing was refused' });
}

export function refusalListing(refused: readonly RefusalView[], now?: number): string[] {
  const rows = refused.map(({ at, from, file, reason }) => [
    `${age(at, now)} ago`,
    plain(from),
    plain(`dead/${file}`),
    plain(reason),
  ]);
  return table([['REFUSED', 'FROM', 'FILE', 'REASON'], ...rows]);
}

export function description(view: RoomDetailView, out: Output, now?: number): string[] {
  const { messages, archived, refused, unread, retention, last } = view;
  const lines = table([
    ['name', plain(view.name)],
    ['folder', plain(view.folder)],
    ['created', `${age(view.createdAt, now)} ago by ${plain(view.user)}`],
    ['messages', `${messages}, ${unread} unread${archived ? `, ${archived} archived` : ''}`],
    ['refused', `${refused}${refused ? `; for the reasons: carrel room show ${view.name} --refused` : ''}`],
    ...(view.watch === 'polling' ? [['watched', 'by polling: its filesystem does not report changes']] : []),
    ...(retention === null ? [] : [['keeps', retentionText(retention)]]),
    ...view.webhooks.map((hook, index) => [index === 0 ? 'webhooks' : '', webhookText(hook)]),
    ...view.members.map((member, index) => [index === 0 ? 'members' : '', memberText(member, now)]),
  ]);
  return last === null ? lines : [...lines, '', ...messageLines(last, out).slice(0, -1)];
}

function retentionText({ days, messages }: NonNullable<RoomDetailView['retention']>): string {
  return [
    ...(days === undefined ? [] : [counted(days, 'day')]),
    ...(messages === undefined ? [] : [counted(messages, 'message')]),
  ].join(', ');
}

function webhookText({ path, verify, accepted, refused, lastRefusal }: RoomDetailView['webhooks'][number]): string {
  const counts = `${path} (${verify}), ${accepted} accepted, ${refused} refused`;
  return lastRefusal === null ? counts : `${counts}, last: ${plain(lastRefusal.reason)}`;
}

function memberText({ name, kind, lastPostAt, lastReadAt }: MemberView, now?: number): string {
  const [active] = [lastPostAt, lastReadAt]
    .filter((at) => at !== null)
    .sort()
    .reverse();
  return `${plain(name)} (${kind ?? 'mentioned'}${active === undefined ? '' : `, active ${age(active, now)} ago`})`;
}
