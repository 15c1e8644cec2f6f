import { checkUserName } from '../../model/user.ts';
import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { plain } from '../output/text.ts';

export default async function userRm(context: Context, { args }: Invocation): Promise<void> {
  const view = await connect(context).call('DELETE /v1/users/{name}', { path: { name: checkUserName(args[0]!) } });
  if (context.json) return context.out.document(view);
  context.out.print(plain(view.name));
}
