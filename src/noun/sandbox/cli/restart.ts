import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { parseSeconds } from '../../../client/option.ts';
import { forEach } from './each.ts';

/** A sandbox that has already ended is started too. */
export async function restart(context: Context, { args, options }: Invocation<{ grace?: string }>): Promise<number> {
  const body = options.grace === undefined ? {} : { graceMs: parseSeconds(options.grace, '--grace') };
  const client = connect(context);
  return forEach(context, 'restarting', args, async (name) => {
    await client.call('POST /v1/sandboxes/{name}/stop', { path: { name }, body });
    return client.call('POST /v1/sandboxes/{name}/start', { path: { name } });
  });
}
