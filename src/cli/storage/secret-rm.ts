import { checkSecretName } from '../../model/secret.ts';
import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { plain } from '../output/text.ts';

export default async function secretRm(context: Context, { args }: Invocation): Promise<void> {
  const path = { name: checkSecretName(args[0]!) };
  const view = await connect(context).call('DELETE /v1/secrets/{name}', { path });
  if (context.json) return context.out.document(view);
  context.out.print(plain(view.name));
}
