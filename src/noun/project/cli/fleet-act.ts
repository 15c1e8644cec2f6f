/** Takes each step by calls of the API. */
import type { Client } from '../../../client/client.ts';
import type { Output } from '../../../client/output/output.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { warnAboutFallback } from '../../sandbox/cli/fallback.ts';
import { isVolumeType } from '../../volume/model.ts';
import type { FleetStep } from '../api/fleet.ts';

type Act = FleetStep['act'];
type StepOf<A extends Act> = Extract<FleetStep, { act: A }>;
type Removal = StepOf<'remove'> | StepOf<'replace'>;

export interface ActContext {
  readonly client: Client;
  readonly out: Output;
}

const acts: { readonly [A in Act]: (acting: ActContext, step: StepOf<A>) => Promise<void> } = {
  'init-volumes': async ({ client }, { volumes }) => {
    const names = volumes.filter((volume) => !isVolumeType(volume));
    await client.call('POST /v1/volumes', { body: { names } });
  },
  'init-rooms': async ({ client }, { rooms }) => {
    for (const name of rooms) await client.call('POST /v1/rooms', { body: { name } });
  },
  watch: async ({ client }, { room, request }) =>
    void (await client.call('POST /v1/rooms/{name}/watchers', { path: { name: room }, body: request })),
  unwatch: async ({ client }, { room, name: who }) =>
    void (await client.call('POST /v1/rooms/{name}/watchers/remove', { path: { name: room }, body: { who } })),
  create,
  replace: async (acting, step) => {
    await remove(acting, step);
    await create(acting, step);
  },
  network: async ({ client }, { name, allow, deny }) =>
    void (await client.call('POST /v1/sandboxes/{name}/network', { path: { name }, body: { allow, deny } })),
  start: async ({ client }, { name }) =>
    void (await client.call('POST /v1/sandboxes/{name}/start', { path: { name } })),
  remove,
};

export function act<A extends Act>(acting: ActContext, step: StepOf<A>): Promise<void> {
  return acts[step.act as A](acting, step);
}

async function create({ client, out }: ActContext, { request }: StepOf<'create'> | StepOf<'replace'>): Promise<void> {
  const view = await client.call('POST /v1/sandboxes', { body: request });
  warnAboutFallback(out, request, view);
  crashPoint('up:created');
}

/** Like `rm` without force: a sandbox with unapplied changes is not removed. */
async function remove({ client }: ActContext, { name, id, state }: Removal): Promise<void> {
  const running = state === 'running' || state === 'pending';
  if (running) await client.call('POST /v1/sandboxes/{name}/stop', { path: { name }, body: { id } });
  crashPoint('up:stopped');
  try {
    await client.call('DELETE /v1/sandboxes/{name}', { path: { name }, query: { id } });
  } catch (error) {
    if (running) await client.call('POST /v1/sandboxes/{name}/start', { path: { name } }).catch(() => {});
    throw error;
  }
  crashPoint('up:removed');
}
