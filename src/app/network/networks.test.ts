import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { sampleSpec } from '../../../test/fixtures/sandbox.ts';
import type { Engine } from '../../engine/engine.ts';
import { Fault, type FaultCode } from '../../model/fault.ts';
import { defaultNetworkLimits } from '../../model/network.ts';
import { initialStatus, type Sandbox } from '../../model/sandbox.ts';
import { createMemoryStore } from '../../store/memory.ts';
import { Networks } from './networks.ts';

const id = '0123456789abcdef';
/** What the next attachments are refused with. */
let refusals: FaultCode[];
let attached: number;
let networks: Networks;

beforeEach(() => {
  vi.useFakeTimers();
  [refusals, attached] = [[], 0];
  const store = createMemoryStore();
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
