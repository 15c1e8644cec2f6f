import type { UserView } from '../../api/user.ts';
import type { Context } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { age } from '../output/age.ts';
import { table } from '../output/table.ts';
import { plain } from '../output/text.ts';

export default async function userLs(context: Context): Promise<void> {
  const users = await connect(context).call('GET /v1/users');
  if (context.json) return context.out.document(users);
  context.out.print(...userListing(users));
}

export function userListing(users: readonly UserView[], now?: number): string[] {
  const rows = users.map(({ name, isOwner, slot, uid, sandboxes, createdAt }) => [
    `${plain(name)}${isOwner ? ' (owner)' : ''}`,
    String(slot),
    uid === null ? '-' : String(uid),
    String(sandboxes),
    `${age(createdAt, now)} ago`,
  ]);
  return table([['NAME', 'SLOT', 'ACCOUNT', 'SANDBOXES', 'CREATED'], ...rows]);
}
