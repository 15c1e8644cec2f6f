import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { Fault } from '../../../model/fault.ts';
import { checkSecretName } from '../../user/model.ts';
import type { CredentialView } from '../api/credential.ts';
import { type CredentialRequest, checkCredentialName, servicesOf, serviceText } from '../model/credential.ts';

type Options = Partial<Omit<CredentialRequest, 'name'>>;

export async function credentialAdd(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const name = checkCredentialName(args[0]!);
  if (options.secret === undefined) {
    throw new Fault('invalid', 'a credential needs --secret', {
      hint: `Store the key with: carrel secret set SECRET; then: carrel credential add ${name} --secret SECRET …`,
    });
  }
  const body = { ...options, name, secret: checkSecretName(options.secret) };
  servicesOf(body);
  const view = await connect(context).call('POST /v1/credentials', { body });
  for (const service of view.services.filter(({ scheme }) => scheme === 'http'))
    context.out.warn(`the key goes to ${plain(serviceText(service))} without encryption`);
  if (context.json) return context.out.document(view);
  context.out.print(plain(view.name));
}

export async function credentialLs(context: Context): Promise<void> {
  const answer = connect(context).call('GET /v1/credentials');
  await printAnswer(context, answer, credentialListing, {
    empty: 'no credentials; add one with: carrel credential add NAME --preset PRESET --secret SECRET',
  });
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

export async function credentialRm(context: Context, { args }: Invocation): Promise<void> {
  const path = { name: checkCredentialName(args[0]!) };
  const answer = connect(context).call('DELETE /v1/credentials/{name}', { path });
  await printAnswer(context, answer, (view) => plain(view.name));
}
