import type { Context, Invocation } from '../context.ts';
import { connect } from '../daemon.ts';
import { forEach } from '../each.ts';

export default async function rm(context: Context, invocation: Invocation<{ force?: boolean }>): Promise<number> {
  const query = invocation.options.force ? { force: true } : {};
  const client = connect(context);
  return forEach(context, 'removing', invocation.args, (name) =>
    client.call('removeSandbox', { path: { name }, query }),
  );
}
