import { checkSandboxName } from '../../model/name.ts';
import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { during } from '../output/progress.ts';
import { plain } from '../output/text.ts';

export default async function snapshot(context: Context, { args: [typed, label] }: Invocation): Promise<void> {
  const name = checkSandboxName(typed!);
  const body = label === undefined ? {} : { label };
  const asked = connect(context).call('POST /v1/sandboxes/{name}/snapshots', { path: { name }, body });
  const view = await during(context.out, `taking a snapshot of ${name}`, asked);
  if (context.json) context.out.document(view);
  else context.out.print(plain(view.id));
}
