import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createMemoryStore } from '../../../../test/fakes/store/memory.ts';
import { sampleSpec } from '../../../../test/fixtures/sandbox.ts';
import type { Engine } from '../../../kernel/engine/engine.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { Fault, type FaultCode } from '../../../model/fault.ts';
import { initialStatus, type Sandbox } from '../../sandbox/model.ts';
import { defaultNetworkLimits } from '../model/network.ts';
import { Networks } from './networks.ts';

const id = '0123456789abcdef';
/** The codes of the Faults that the next attachments throw. */
let refusals: FaultCode[];
let attached: number;
let networks: Networks;
let store: Store;
/** Whether the fake sandboxes require their services. */
let requiresServices: boolean;

beforeEach(() => {
  vi.useFakeTimers();
  [refusals, attached] = [[], 0];
  store = createMemoryStore();
  requiresServices = false;
  const spec = { ...sampleSpec, network: { allow: ['a.example'], ports: [] } };
  const value: Sandbox = { id, name: 'box', createdAt: '', spec, status: { ...initialStatus, state: 'running' } };
  const event = { at: '', type: 'sandbox.created', subject: id, data: {} };
  store.insert({ kind: 'sandbox', id, owner: 'ann', name: 'box', value }, event);
  const attach = async () => {
    const code = refusals.shift();
    if (code) throw new Fault(code, `refused: ${code}`);
    attached += 1;
  };
  networks = new Networks({
    ...{ store, limits: defaultNetworkLimits, folder: () => '/nowhere', credentials: () => [], services: () => [] },
    requiresServices: () => requiresServices,
    engineOf: () => ({ network: async () => ({ pid: 1, startTicks: 1, bootId: 'test' }) }) as unknown as Engine,
    network: { attach, detach: async () => {}, keepOnly: async () => {}, dispose: () => {} },
    report: () => {},
  });
});
afterEach(() => vi.useRealTimers());

it('attaching is retried until it succeeds, and the first conflict is reported until then', async () => {
  refusals = ['conflict', 'unavailable', 'unavailable'];
  await networks.start();
  expect(networks.trouble(id)).toBe('refused: conflict');
  await vi.advanceTimersByTimeAsync(1000);
  expect([attached, networks.trouble(id)]).toEqual([0, 'refused: conflict']);
  await vi.advanceTimersByTimeAsync(500);
  expect([attached, networks.trouble(id)]).toEqual([1, null]);
  await vi.advanceTimersByTimeAsync(5000);
  expect(attached).toBe(1);
});

it('attaching is not retried after an unsupported Fault', async () => {
  refusals = ['unsupported'];
  await networks.start();
  await vi.advanceTimersByTimeAsync(5000);
  expect(attached).toBe(0);
});

it('a sandbox whose processes are not visible starts without its optional services', async () => {
  const service = { name: 'memory', port: 1, to: '/socket', identity: 'headers' } as const;
  const network = {
    attach: async () => void attached++,
    detach: async () => {},
    keepOnly: async () => {},
    dispose: () => {},
  };
  const withService = new Networks({
    ...{
      store,
      limits: defaultNetworkLimits,
      folder: () => '/nowhere',
      credentials: () => [],
      services: () => [service],
    },
    ...{ requiresServices: () => requiresServices, engineOf: () => ({}) as Engine, network, report: () => {} },
  });
  const sandbox: Sandbox = { id, name: 'box', createdAt: '', spec: sampleSpec, status: initialStatus };
  const invisible = () => {
    throw new Fault('unsupported', 'not visible from here');
  };
  await withService.connect(sandbox, invisible);
  expect([attached, withService.trouble(id)]).toEqual([0, 'not visible from here']);
  requiresServices = true;
  await expect(withService.connect(sandbox, invisible)).rejects.toMatchObject({ code: 'unsupported' });
  const allowed = { ...sandbox, spec: { ...sampleSpec, network: { allow: ['a.example'], ports: [] } } };
  requiresServices = false;
  await expect(withService.connect(allowed, invisible)).rejects.toMatchObject({ code: 'unsupported' });
});
