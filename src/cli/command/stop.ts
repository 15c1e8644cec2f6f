import type { Context, Invocation } from '../context.ts';
import { connect } from '../daemon.ts';
import { forEach } from '../each.ts';
import { parseSeconds } from '../option.ts';

export default async function stop(context: Context, invocation: Invocation<{ grace?: string }>): Promise<number> {
  const { grace } = invocation.options;
  const body = grace === undefined ? {} : { graceMs: parseSeconds(grace, '--grace') };
  const client = connect(context);
  return forEach(context, 'stopping', invocation.args, (name) => client.call('stopSandbox', { path: { name }, body }));
}
