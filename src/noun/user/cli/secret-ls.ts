import type { Context } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { formatSize } from '../../../model/size.ts';
import type { SecretView } from '../api/secret.ts';

export async function secretLs(context: Context): Promise<void> {
  const secrets = await connect(context).call('GET /v1/secrets');
  if (context.json) return context.out.document(secrets);
  if (secrets.length === 0) return context.out.note('no secrets; keep one with: carrel secret set NAME');
  context.out.print(...secretListing(secrets));
}

export function secretListing(secrets: readonly SecretView[], now?: number): string[] {
  const rows = secrets.map(({ name, sizeBytes, updatedAt }) => [
    plain(name),
    formatSize(sizeBytes),
    `${age(updatedAt, now)} ago`,
  ]);
  return table([['NAME', 'SIZE', 'CHANGED'], ...rows]);
}
