import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { forEach } from './each.ts';

export default async function start(context: Context, { args }: Invocation): Promise<number> {
  const client = connect(context);
  return forEach(context, 'starting', args, (name) =>
    client.call('POST /v1/sandboxes/{name}/start', { path: { name } }),
  );
}
