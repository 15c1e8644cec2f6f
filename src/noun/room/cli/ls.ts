import type { Context } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import type { RoomView } from '../api.ts';

export async function roomLs(context: Context): Promise<void> {
  const rooms = await connect(context).call('GET /v1/rooms');
  if (context.json) return context.out.document(rooms);
  if (rooms.length === 0) return context.out.note('no rooms; create one with: carrel room create NAME');
  context.out.print(...roomListing(rooms));
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
