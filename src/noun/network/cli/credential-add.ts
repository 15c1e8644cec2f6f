import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';
import { Fault } from '../../../model/fault.ts';
import { checkSecretName } from '../../user/model.ts';
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
