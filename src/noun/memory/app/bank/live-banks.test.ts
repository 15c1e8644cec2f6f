import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openTestBank, type TestBank } from '../../../../../test/fixtures/memory.ts';
import { sampleSpec } from '../../../../../test/fixtures/sandbox.ts';
import { initialStatus, type Sandbox } from '../../../sandbox/model.ts';
import type { VolumeMount } from '../../../volume/model.ts';
import type { Bank } from '../../bank/bank.ts';
import { defaultBankLimits } from '../../model/bank.ts';
import { LiveBanks } from './live-banks.ts';

const now = '2026-01-01T00:00:00.000Z';
const atItsPlace: VolumeMount = { name: 'bank-ann', target: '/data/memory-bank', readonly: false, isBank: true };

let opened: TestBank;
let bank: Bank;
let sandboxes: Sandbox[];
let banks: LiveBanks;
let calls: string[];

beforeEach(() => {
  opened = openTestBank(now);
  bank = opened.bank;
  sandboxes = [];
  calls = [];
  const noted = <T>(call: string, result: T) => {
    calls.push(call);
    return result;
  };
  banks = new LiveBanks({
    banks: {
      open: async () => noted('open', bank),
      erase: async () => noted('erase', undefined),
      release: async () => noted('release', undefined),
      close: async () => {},
    },
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
afterEach(async () => {
  vi.useRealTimers();
  await banks.dispose();
  await opened.remove();
});

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
  mkdirSync(join(opened.files, 'shop'));
  writeFileSync(join(opened.files, 'shop/a.md'), 'misleading');
  await banks.conclude(other);
  sandboxes = [running('builder', atItsPlace)];
  const [version] = await bank.log({ path: null, limit: 1, diffs: false });
  expect(version).toMatchObject({ act: 'plain', by: { kind: 'sandbox', name: 'other' } });
});

test.each(['erase', 'release'] as const)('after %s, no scan that was due opens the bank again', async (end) => {
  vi.useFakeTimers();
  const builder = running('builder', atItsPlace);
  sandboxes = [builder];
  await banks.provide(builder);
  sandboxes = [];
  await banks[end]('ann');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(calls.at(-1)).toBe(end);
});

test('a sandbox that can write is scanned after the history was erased, too', async () => {
  vi.useFakeTimers();
  const builder = running('builder', atItsPlace);
  sandboxes = [builder];
  await banks.provide(builder);
  await banks.erase('ann');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(calls.slice(calls.indexOf('erase'))).toContain('open');
});
