import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';
import { checkShareName, consumerText, parseConsumer } from '../model.ts';

type Options = { readonly force?: boolean };

export async function shareRevoke(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const [name, asked] = args;
  const consumer = asked === undefined ? {} : { consumer: consumerText(parseConsumer(asked)) };
  const body = { ...consumer, ...(options.force ? { force: true } : {}) };
  const call = { path: { name: checkShareName(name!) }, body };
  const view = await connect(context).call('POST /v1/shares/{name}/revoke', call);
  if (context.json) return context.out.document(view);
  context.out.print(...view.revoked.map((one) => plain(one)));
  for (const sandbox of view.stopped) context.out.say(`stopped ${plain(sandbox)}; it had files of the share open`);
  for (const note of view.notes) context.out.say(plain(note));
}
