import { beforeEach, describe, expect, it } from 'vitest';
import { samplePlaces } from '../../test/fixtures/places.ts';
import { sampleSpec } from '../../test/fixtures/sandbox.ts';
import { createFakeEngine } from '../engine/fake.ts';
import { Exclusive } from '../lib/exclusive.ts';
import { initialStatus, withSpec } from '../model/sandbox.ts';
import { Reconciler } from '../reconcile/reconcile.ts';
import { createMemoryStore } from '../store/memory.ts';
import type { Row, Store } from '../store/store.ts';
import { type WorkspaceParts, whileEnded, whileStill } from './workspaces.ts';

const id = '0123456789abcdef';
const at = '2026-01-01T00:00:00.000Z';
const event = { at, type: 'test', subject: id, data: {} };
let store: Store;
let parts: WorkspaceParts;
let row: Row<'sandbox'>;

beforeEach(() => {
  store = createMemoryStore();
  const engine = createFakeEngine();
  const reconciler = new Reconciler({ store, engine, places: samplePlaces('/h'), data: {} as never, now: () => at });
  parts = { store, engine, reconciler, locks: new Exclusive() } as Partial<WorkspaceParts> as WorkspaceParts;
  const status = { ...initialStatus, state: 'stopped' as const };
  const value = { id, name: 'box', createdAt: at, spec: { ...sampleSpec, desired: 'stopped' as const }, status };
  row = store.insert({ kind: 'sandbox', id, owner: 'ann', name: 'box', value }, event);
});

describe.each([
  ['whileStill', whileStill],
  ['whileEnded', whileEnded],
])('%s', (_, hold) => {
  it('does its task on what is there', async () => {
    expect(await hold(parts, row, async () => 'done')).toBe('done');
  });

  it('refuses what was removed meanwhile', async () => {
    store.remove(row, event);
    await expect(hold(parts, row, async () => 'done')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('refuses what is about to be removed', async () => {
    store.update(row, withSpec(row.value, { desired: 'removed' }), event);
    await expect(hold(parts, row, async () => 'done')).rejects.toMatchObject({ code: 'not_found' });
  });
});
