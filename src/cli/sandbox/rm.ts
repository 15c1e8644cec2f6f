import { parseDuration } from '../../model/duration.ts';
import { Fault } from '../../model/fault.ts';
import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { forEach } from './each.ts';
import { removeStale } from './stale.ts';

interface Options {
  readonly force?: boolean;
  readonly stale?: string;
  readonly yes?: boolean;
}

export default async function rm(context: Context, { args, options }: Invocation<Options>): Promise<number> {
  const { force = false, stale, yes = false } = options;
  if (stale !== undefined) {
    if (args.length > 0) throw unclear('either names or --stale, not both');
    return removeStale(context, { staleMs: parseDuration(stale, '--stale'), force, yes });
  }
  if (args.length === 0) throw unclear('nothing was named');
  if (yes) throw unclear('--yes is for --stale: what is named is removed without asking');
  const client = connect(context);
  const query = force ? { force } : {};
  return forEach(context, 'removing', args, (name) =>
    client.call('DELETE /v1/sandboxes/{name}', { path: { name }, query }),
  );
}

function unclear(message: string): Fault {
  return new Fault('invalid', message, { hint: 'carrel rm NAME… or carrel rm --stale 7d' });
}
