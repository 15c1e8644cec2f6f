import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';
import { checkSecretName } from '../model.ts';

export async function secretRm(context: Context, { args }: Invocation): Promise<void> {
  const path = { name: checkSecretName(args[0]!) };
  const view = await connect(context).call('DELETE /v1/secrets/{name}', { path });
  if (context.json) return context.out.document(view);
  context.out.print(plain(view.name));
}
