import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';
import { checkCredentialName } from '../model/credential.ts';

export async function credentialRm(context: Context, { args }: Invocation): Promise<void> {
  const path = { name: checkCredentialName(args[0]!) };
  const view = await connect(context).call('DELETE /v1/credentials/{name}', { path });
  if (context.json) return context.out.document(view);
  context.out.print(plain(view.name));
}
