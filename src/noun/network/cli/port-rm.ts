import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { parsePorts } from '../model/published.ts';

export async function portRm(context: Context, { args }: Invocation): Promise<void> {
  const path = { name: checkSandboxName(args[0]!) };
  const removed = await connect(context).call('POST /v1/sandboxes/{name}/ports/remove', {
    path,
    body: parsePorts(args[1]!),
  });
  if (context.json) return context.out.document(removed);
  context.out.print(...removed.map(({ hostPort }) => String(hostPort)));
}
