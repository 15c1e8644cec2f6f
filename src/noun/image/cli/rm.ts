import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';

export async function imageRm(context: Context, { args }: Invocation): Promise<void> {
  const view = await connect(context).call('POST /v1/images/remove', { body: { name: args[0]! } });
  if (context.json) return context.out.document(view);
  context.out.print(plain(view.name));
}
