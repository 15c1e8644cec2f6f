import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';
import { checkUserName } from '../../../model/user.ts';

export async function userRm(context: Context, { args }: Invocation): Promise<void> {
  const view = await connect(context).call('DELETE /v1/users/{name}', { path: { name: checkUserName(args[0]!) } });
  if (context.json) return context.out.document(view);
  context.out.print(plain(view.name));
}
