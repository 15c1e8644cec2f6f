import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { during } from '../../../client/output/progress.ts';
import { checkSandboxName } from '../../../model/name.ts';

/** Printed when the exit code was not observed. */
const unknownCode = 255;

export async function wait(context: Context, { args }: Invocation): Promise<void> {
  const name = checkSandboxName(args[0]!);
  const asked = connect(context).call('GET /v1/sandboxes/{name}/wait', { path: { name } });
  const view = await during(context.out, `waiting for ${name} to end`, asked);
  if (context.json) return context.out.document(view);
  if (view.exitCode === null) context.out.warn(`${name} ended without an exit code: ${view.reason ?? view.state}`);
  context.out.print(String(view.exitCode ?? unknownCode));
}
