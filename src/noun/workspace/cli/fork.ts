import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { during } from '../../../client/output/progress.ts';
import { plain } from '../../../client/output/text.ts';
import { checkSandboxName } from '../../../model/name.ts';

export async function fork(context: Context, { args }: Invocation): Promise<void> {
  const [name, ...names] = args.map(checkSandboxName);
  const body = names.length === 0 ? {} : { names };
  const asked = connect(context).call('POST /v1/sandboxes/{name}/fork', { path: { name: name! }, body });
  const views = await during(context.out, `forking ${name}`, asked);
  if (context.json) return context.out.document(views);
  context.out.print(...views.map((view) => plain(view.name)));
}
