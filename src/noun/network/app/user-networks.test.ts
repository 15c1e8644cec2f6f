import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ServedApp, serve } from '../../../../test/fixtures/served.ts';
import { Fault } from '../../../model/fault.ts';
import { defaultNetworkLimits } from '../model/network.ts';
import { HostPorts } from './host-ports.ts';
import { UserNetworks } from './user-networks.ts';

const owner = { name: 'ann', isOwner: true };
let { call, dispose, store, served }: ServedApp = {} as ServedApp;
/** Whether another program has taken the port meanwhile. */
let taken: (port: number) => boolean;

beforeEach(async () => {
  ({ call, dispose, store, served } = serve());
  taken = () => false;
  for (const name of ['one', 'two']) await call('POST', '/v1/sandboxes', { name });
});
afterEach(() => dispose());

const portsOf = (id: string) => store.get('sandbox', id)!.value.spec.network?.ports ?? [];

function userNetworks(): UserNetworks {
  const refresh = async (id: string) => {
    const found = portsOf(id).find(({ hostPort }) => taken(hostPort));
    if (found) throw new Fault('conflict', `127.0.0.1:${found.hostPort} is taken on this machine`);
  };
  return new UserNetworks(owner, {
    ...{
      store,
      credentialHosts: () => [],
      presets: {},
      registries: () => [],
      defaults: [],
      limits: defaultNetworkLimits,
      now: () => '',
    },
    hostPorts: new HostPorts(owner, store),
    sandboxes: served.scopes.of(owner).sandboxes,
    networks: { refresh, folder: () => '', trouble: () => null },
  });
}

it('another port is chosen if the first was taken meanwhile, unless the request names one', async () => {
  const tried: number[] = [];
  taken = (port) => tried.push(port) === 1;
  const { hostPort } = await userNetworks().addPort('one', { port: 47_801 });
  expect(tried.slice(1)).toEqual([hostPort]);
  expect(portsOf(store.find('sandbox', 'ann', 'one')!.id)).toEqual([
    { port: 47_801, hostPort, hostAddress: '127.0.0.1' },
  ]);
  taken = () => true;
  await expect(userNetworks().addPort('two', { port: 47_802, hostPort: 47_802 })).rejects.toMatchObject({
    code: 'conflict',
  });
  await expect(userNetworks().addPort('two', { port: 47_802 })).rejects.toMatchObject({ code: 'conflict' });
  expect(portsOf(store.find('sandbox', 'ann', 'two')!.id)).toEqual([]);
});

it('another port is chosen if the first is recorded for a sandbox that does not listen on it now', async () => {
  await userNetworks().addPort('one', { port: 47_803, hostPort: 47_803 });
  expect((await userNetworks().addPort('two', { port: 47_803 })).hostPort).not.toBe(47_803);
});

it('the ports for a sandbox that does not exist yet are free and distinct', async () => {
  await userNetworks().addPort('one', { port: 47_804, hostPort: 47_804 });
  const ports = new HostPorts(owner, store);
  const [named, other, third] = await ports.choose([
    { port: 80, hostPort: 47_805 },
    { port: 47_804 },
    { port: 47_804 },
  ]);
  expect(named).toEqual({ port: 80, hostPort: 47_805, hostAddress: '127.0.0.1' });
  expect(new Set([47_804, other!.hostPort, third!.hostPort]).size).toBe(3);
  await expect(ports.choose([{ port: 80, hostPort: 47_804 }])).rejects.toThrow('is forwarded to one already');
  const twice = { port: 80, hostPort: 47_806 };
  await expect(ports.choose([twice, twice])).rejects.toThrow('named twice');
  const bob = new HostPorts({ name: 'bob', isOwner: false }, store);
  await expect(bob.choose([{ port: 80, hostAddress: '0.0.0.0' }])).rejects.toMatchObject({ code: 'denied' });
  await expect(bob.choose([{ port: 80, hostPort: 80 }])).rejects.toMatchObject({ code: 'denied' });
});

it('the rules of new sandboxes are explained for a host, with the presets that allow it', async () => {
  const refused = await call('POST', '/v1/network/explain', { asked: 'registry.npmjs.org' });
  expect(refused).toMatchObject({
    status: 200,
    body: { asked: 'registry.npmjs.org:443', allowed: false, refusal: 'not_allowed', presets: ['dev', 'npm'] },
  });
  const unknown = await call('POST', '/v1/network/explain', { asked: 'nowhere.example:22' });
  expect(unknown.body).toMatchObject({ allowed: false, presets: [] });
  expect((await call('POST', '/v1/network/explain', { asked: 'a b' })).status).toBe(400);
});
