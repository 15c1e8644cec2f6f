import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import type { SandboxView } from '../api.ts';
import { forEach, requireNamesOrAll } from './each.ts';

interface Options {
  readonly all?: boolean;
}

export async function start(context: Context, { args, options }: Invocation<Options>): Promise<number> {
  const { all = false } = options;
  requireNamesOrAll('start', args, all);
  const client = connect(context);
  const names = all ? (await client.call('GET /v1/sandboxes')).filter(wasInterrupted).map(({ name }) => name) : args;
  if (all && names.length === 0) context.out.note('no sandbox was stopped');
  return forEach(context, 'starting', names, (name) =>
    client.call('POST /v1/sandboxes/{name}/start', { path: { name } }),
  );
}

/** Ended by `stop`, or lost when the machine went down. Commands that ended by themselves are not run again. */
function wasInterrupted({ state, reason }: SandboxView): boolean {
  return state === 'stopped' || (state === 'failed' && reason === 'lost');
}
