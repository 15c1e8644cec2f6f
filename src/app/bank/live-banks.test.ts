import { afterEach, beforeEach, expect, test } from 'vitest';
import { sampleSpec } from '../../../test/fixtures/sandbox.ts';
import { FakeBank } from '../../bank/fake.ts';
import { defaultBankLimits } from '../../model/bank.ts';
import { initialStatus, type Sandbox } from '../../model/sandbox.ts';
import type { VolumeMount } from '../../model/volume.ts';
import { LiveBanks } from './live-banks.ts';

const now = '2026-01-01T00:00:00.000Z';
const atItsPlace: VolumeMount = { name: 'bank-ann', target: '/data/memory-bank', readonly: false, isBank: true };

let bank: FakeBank;
let sandboxes: Sandbox[];
let banks: LiveBanks;

beforeEach(() => {
  bank = new FakeBank(defaultBankLimits, () => new Date(now));
  sandboxes = [];
  banks = new LiveBanks({
    banks: { open: async () => bank, erase: async () => {}, release: async () => {}, close: async () => {} },
    placeOf: () => ({ files: '', folder: '', ownerId: null }),
    volumeOf: (user) => `bank-${user}`,
    limits: () => defaultBankLimits,
    sandboxes: () => sandboxes,
    report: (_, fault) => {
      throw fault;
    },
    nowMs: () => 0,
  });
});
afterEach(() => banks.dispose());

function running(name: string, mount: Partial<VolumeMount>): Sandbox {
  const { isBank: _, ...plain } = atItsPlace;
  const spec = { ...sampleSpec, user: 'ann', volumes: [{ ...plain, ...mount }] };
  return { id: name, name, createdAt: now, spec, status: { ...initialStatus, state: 'running', startedAt: now } };
}

test('a plain write is attributed to the only sandbox that can write the volume', async () => {
  sandboxes = [running('builder', atItsPlace), running('reader', { readonly: true }), running('x', { name: 'other' })];
  expect(await banks.plainWriter('ann')).toMatchObject({ kind: 'sandbox', name: 'builder' });
});

test('a sandbox with the volume at another path, without the tools, counts as a possible writer', async () => {
  sandboxes = [running('builder', atItsPlace), running('other', { target: '/notes' })];
  expect(await banks.plainWriter('ann')).toMatchObject({ kind: 'unknown', name: 'builder, other', id: null });
});

test('a plain write of a sandbox without the tools is recorded as its own when it ends', async () => {
  const other = running('other', { target: '/notes' });
  sandboxes = [other];
  bank.plain.set('shop/a.md', 'misleading');
  await banks.conclude(other);
  sandboxes = [running('builder', atItsPlace)];
  const [version] = await bank.log({ path: null, limit: 1, diffs: false });
  expect(version).toMatchObject({ act: 'plain', by: { kind: 'sandbox', name: 'other' } });
});
