import type { Context } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import type { UserView } from '../api.ts';

export async function userLs(context: Context): Promise<void> {
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
