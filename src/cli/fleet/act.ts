/** How each step is taken, through the API. */
import type { Client } from '../../api/client.ts';
import type { FleetStep } from '../../api/routes.ts';
import { crashPoint } from '../../lib/crash-point.ts';
import { isVolumeType } from '../../model/volume.ts';
import type { Output } from '../output/output.ts';
import { tellFallback } from '../sandbox/fallback.ts';

type Act = FleetStep['act'];
type StepOf<A extends Act> = Extract<FleetStep, { act: A }>;
type Removal = StepOf<'remove'> | StepOf<'replace'>;

export interface Hands {
  readonly client: Client;
  readonly out: Output;
}

const acts: { readonly [A in Act]: (hands: Hands, step: StepOf<A>) => Promise<void> } = {
  'init-volumes': async ({ client }, { volumes }) => {
    const names = volumes.filter((volume) => !isVolumeType(volume));
    await client.call('initVolumes', { body: { names } });
  },
  create,
  replace: async (hands, step) => {
    await remove(hands, step);
    await create(hands, step);
  },
  network: async ({ client }, { name, allow, deny }) =>
    void (await client.call('changeNetwork', { path: { name }, body: { allow, deny } })),
  start: async ({ client }, { name }) => void (await client.call('startSandbox', { path: { name } })),
  remove,
};

export function act<A extends Act>(hands: Hands, step: StepOf<A>): Promise<void> {
  return acts[step.act as A](hands, step);
}

async function create({ client, out }: Hands, { request }: StepOf<'create'> | StepOf<'replace'>): Promise<void> {
  const view = await client.call('createSandbox', { body: request });
  tellFallback(out, request, view);
  crashPoint('up:created');
}

/** As `rm` without force: what nobody took over stays, and what ran goes on. */
async function remove({ client }: Hands, { name, id, state }: Removal): Promise<void> {
  const running = state === 'running' || state === 'pending';
  if (running) await client.call('stopSandbox', { path: { name }, body: { id } });
  crashPoint('up:stopped');
  try {
    await client.call('removeSandbox', { path: { name }, query: { id } });
  } catch (error) {
    if (running) await client.call('startSandbox', { path: { name } }).catch(() => {});
    throw error;
  }
  crashPoint('up:removed');
}
