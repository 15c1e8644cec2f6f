import { afterEach, beforeEach, expect, it } from 'vitest';
import { samplePlaces } from '../../../test/fixtures/places.ts';
import { type ServedApp, serve } from '../../../test/fixtures/served.ts';
import { launchAdditions } from '../../noun/sandbox/launch/launch.ts';

let { home, store, call, dispose }: ServedApp = {} as ServedApp;
beforeEach(() => {
  ({ home, store, call, dispose } = serve());
});
afterEach(() => dispose());

it('only a sandbox without a project can mount the home of its user directly', async () => {
  const refused = await call('POST', '/v1/sandboxes', {
    name: 'box',
    home: 'shared',
    project: '/usr/lib',
    mode: 'bind',
  });
  expect([refused.status, (refused.body as { message: string }).message]).toEqual([
    400,
    'a sandbox with a project has a home of its own',
  ]);
  expect((await call('POST', '/v1/sandboxes', { name: 'box', home: 'shared' })).status).toBe(200);
  const { mounts } = launchAdditions(store.find('sandbox', 'ann', 'box')!.value, samplePlaces(home));
  const [mount, ...others] = mounts.filter(({ target }) => target === '/home/agent');
  expect([mount, others]).toMatchObject([{ kind: 'bind', readonly: false, mapOwner: true }, []]);
});
