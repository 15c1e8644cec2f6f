/** A sandbox that fails within a moment of its start is reported as a failed step. */
import type { Client } from '../../../client/client.ts';
import { plain } from '../../../client/output/text.ts';
import { Fault, isFault } from '../../../model/fault.ts';
import type { SandboxView } from '../../sandbox/api.ts';
import type { FleetStep } from '../api/fleet.ts';

/** How long the started commands are watched, all at the same time. */
const watchMs = 1000;

type Starting = Extract<FleetStep, { act: 'create' | 'replace' | 'start' }>;

export async function endedAtOnce(client: Client, done: readonly FleetStep[]): Promise<[FleetStep, Fault][]> {
  const started = done.filter(isStarting);
  const signal = AbortSignal.timeout(watchMs);
  const views = await Promise.all(started.map((step) => ended(client, step.name, signal)));
  return started.flatMap((step, index) => {
    const view = views[index]!;
    return view?.state === 'failed' ? [[step, failedFault(view)] as [FleetStep, Fault]] : [];
  });
}

/** A sandbox without a command idles until it is stopped, so it is not watched. */
function isStarting(step: FleetStep): step is Starting {
  if (step.act === 'start') return true;
  return (step.act === 'create' || step.act === 'replace') && (step.request.command ?? []).length > 0;
}

/** Null: the sandbox still runs, or was removed meanwhile. */
async function ended(client: Client, name: string, signal: AbortSignal): Promise<SandboxView | null> {
  try {
    return await client.call('GET /v1/sandboxes/{name}/wait', { path: { name }, signal });
  } catch (error) {
    if (signal.aborted || isFault(error, 'not_found')) return null;
    throw error;
  }
}

function failedFault({ name, exitCode, reason }: SandboxView): Fault {
  const why = reason ?? `exit code ${exitCode}`;
  return new Fault('conflict', `${plain(name)} ended at once: ${plain(why)}`, {
    hint: `See what it wrote: carrel logs ${plain(name)}`,
  });
}
