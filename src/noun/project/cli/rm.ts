import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';

interface Options {
  readonly force?: boolean;
}

export async function projectRm(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const query = options.force ? { force: true } : {};
  const view = await connect(context).call('DELETE /v1/projects/{name}', { path: { name: args[0]! }, query });
  if (context.json) return context.out.document(view);
  context.out.print(plain(view.id));
}
