import type { Context } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import type { CredentialView } from '../api/credential.ts';
import { serviceText } from '../model/credential.ts';

export async function credentialLs(context: Context): Promise<void> {
  const credentials = await connect(context).call('GET /v1/credentials');
  if (context.json) return context.out.document(credentials);
  if (credentials.length === 0) {
    return context.out.note('no credentials; add one with: carrel credential add NAME --preset PRESET --secret SECRET');
  }
  context.out.print(...credentialListing(credentials));
}

/** The host in the notation of `credential add --host`. */
export function placeText(service: Omit<CredentialView['services'][number], 'header' | 'format'>): string {
  return `${service.scheme === undefined ? '' : 'http://'}${serviceText(service)}`;
}

/** One line for each host. */
export function credentialListing(credentials: readonly CredentialView[], now?: number): string[] {
  const rows = credentials.flatMap(({ name, secret, services, createdAt }) =>
    services.map(({ host, port, scheme, header, format }) => [
      plain(name),
      plain(placeText({ host, port, scheme })),
      plain(`${header}: ${format}`),
      plain(secret),
      `${age(createdAt, now)} ago`,
    ]),
  );
  return table([['NAME', 'HOST', 'HEADER', 'SECRET', 'ADDED'], ...rows]);
}
