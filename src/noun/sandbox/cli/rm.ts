import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { parseDuration } from '../../../model/duration.ts';
import { Fault } from '../../../model/fault.ts';
import { forEach } from './each.ts';
import { removeMany } from './remove-many.ts';

interface Options {
  readonly force?: boolean;
  readonly all?: boolean;
  readonly stale?: string;
  readonly yes?: boolean;
}

export async function rm(context: Context, { args, options }: Invocation<Options>): Promise<number> {
  const { force = false, all = false, stale, yes = false } = options;
  if (all || stale !== undefined) {
    if (args.length > 0) throw unclear(`either names or ${all ? '--all' : '--stale'}, not both`);
    const staleMs = stale === undefined ? null : parseDuration(stale, '--stale');
    return removeMany(context, { staleMs, force, yes });
  }
  if (args.length === 0) throw unclear('no sandbox is named');
  if (yes) throw unclear('--yes is for --all and --stale: sandboxes that are named are removed without asking');
  const client = connect(context);
  const query = force ? { force } : {};
  return forEach(context, 'removing', args, (name) =>
    client.call('DELETE /v1/sandboxes/{name}', { path: { name }, query }),
  );
}

function unclear(message: string): Fault {
  return new Fault('invalid', message, { hint: 'carrel rm NAME…, carrel rm --all or carrel rm --stale 7d' });
}
