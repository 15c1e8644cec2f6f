import type { Context, Invocation } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { connect } from '../../../client/connect/connect.ts';
import { parseSeconds } from '../../../client/option.ts';
import { isFault } from '../../../model/fault.ts';
import type { SandboxView } from '../api.ts';
import { forEach, requireNamesOrAll } from './each.ts';

interface Options {
  readonly grace?: string;
  readonly all?: boolean;
}

export async function stop(context: Context, { args, options }: Invocation<Options>): Promise<number> {
  const { grace, all = false } = options;
  requireNamesOrAll('stop', args, all);
  const body = grace === undefined ? {} : { graceMs: parseSeconds(grace, '--grace') };
  const client = connect(context);
  const stopOne = (name: string) => client.call('POST /v1/sandboxes/{name}/stop', { path: { name }, body });
  if (!all) return forEach(context, 'stopping', args, stopOne);
  const live = (await client.call('GET /v1/sandboxes')).filter(isLive);
  if (live.length === 0) context.out.note('no sandbox is running');
  const views = new Map(live.map((view) => [view.name, view]));
  return forEach(context, 'stopping', [...views.keys()], (name) => stopIfThere(stopOne(name), views.get(name)!));
}

function isLive({ state }: SandboxView): boolean {
  return state === 'running' || state === 'pending';
}

/** A sandbox that was removed meanwhile counts as stopped. */
async function stopIfThere(stopping: ReturnType<Client['call']>, seen: SandboxView): Promise<SandboxView> {
  try {
    return (await stopping) as SandboxView;
  } catch (error) {
    if (isFault(error, 'not_found')) return seen;
    throw error;
  }
}
