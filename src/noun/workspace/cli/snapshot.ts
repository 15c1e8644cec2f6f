import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { during } from '../../../client/output/progress.ts';
import { plain } from '../../../client/output/text.ts';
import { checkSandboxName } from '../../../model/name.ts';

export async function snapshot(context: Context, { args: [typed, label] }: Invocation): Promise<void> {
  const name = checkSandboxName(typed!);
  const body = label === undefined ? {} : { label };
  const asked = connect(context).call('POST /v1/sandboxes/{name}/snapshots', { path: { name }, body });
  const view = await during(context.out, `taking a snapshot of ${name}`, asked);
  if (context.json) context.out.document(view);
  else context.out.print(plain(view.id));
}
