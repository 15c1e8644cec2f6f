import type { Context, Invocation } from '../context.ts';
import { connect } from '../daemon.ts';
import { tellFallback } from '../fallback.ts';
import { during } from '../output/progress.ts';
import { plain } from '../output/text.ts';
import { type SandboxOptions, sandboxRequest } from '../request.ts';
import { withTrust } from '../trust.ts';

export default async function create(context: Context, invocation: Invocation<SandboxOptions>): Promise<void> {
  const body = sandboxRequest(invocation.options, invocation.args[0], invocation.command);
  const client = connect(context);
  const view = await withTrust(context, client, () =>
    during(context.out, 'creating the sandbox', client.call('createSandbox', { body })),
  );
  tellFallback(context.out, body, view);
  if (context.json) context.out.document(view);
  else context.out.print(plain(view.name));
}
