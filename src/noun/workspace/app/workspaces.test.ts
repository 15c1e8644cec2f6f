import { beforeEach, describe, expect, it } from 'vitest';
import { createFakeEngine, type FakeEngine } from '../../../../test/fakes/engine/engine.ts';
import { createMemoryStore } from '../../../../test/fakes/store/memory.ts';
import { sampleLaunch } from '../../../../test/fixtures/launch.ts';
import { samplePlaces } from '../../../../test/fixtures/places.ts';
import { sampleSpec } from '../../../../test/fixtures/sandbox.ts';
import type { Row, Store } from '../../../kernel/store/store.ts';
import { Exclusive } from '../../../lib/flow/exclusive.ts';
import { initialStatus, withSpec } from '../../sandbox/model.ts';
import { createReconciler } from '../../sandbox/reconcile/reconciler.ts';
import { type WorkspaceParts, whileEnded, withPausedSandbox } from './workspaces.ts';

const id = '0123456789abcdef';
const at = '2026-01-01T00:00:00.000Z';
const event = { at, type: 'test', subject: id, data: {} };
let store: Store;
let engine: FakeEngine;
let parts: WorkspaceParts;
let row: Row<'sandbox'>;

beforeEach(() => {
  store = createMemoryStore();
  engine = createFakeEngine();
  const reconciler = createReconciler({
    store,
    engineOf: () => engine,
    places: samplePlaces('/h'),
    data: {} as never,
    now: () => at,
  });
  parts = {
    store,
    engineOf: () => engine,
    reconciler,
    locks: new Exclusive(),
  } as Partial<WorkspaceParts> as WorkspaceParts;
  const status = { ...initialStatus, state: 'stopped' as const };
  const value = { id, name: 'box', createdAt: at, spec: { ...sampleSpec, desired: 'stopped' as const }, status };
  row = store.insert({ kind: 'sandbox', id, owner: 'ann', name: 'box', value }, event);
});

describe.each([
  ['withPausedSandbox', withPausedSandbox],
  ['whileEnded', whileEnded],
])('%s', (_, hold) => {
  it('runs its task if the sandbox exists', async () => {
    expect(await hold(parts, row, async () => 'done')).toBe('done');
  });

  it('refuses a sandbox that was removed meanwhile', async () => {
    store.remove(row, event);
    await expect(hold(parts, row, async () => 'done')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('refuses a sandbox that is about to be removed', async () => {
    store.update(row, withSpec(row.value, { desired: 'removed' }), event);
    await expect(hold(parts, row, async () => 'done')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a sandbox that is recorded as running', () => {
  beforeEach(() => {
    row = store.update(row, { ...row.value, status: { ...row.value.status, state: 'running' } }, event);
  });

  it.each(['exited', 'absent'] as const)('and is %s by now needs no pause', async (kind) => {
    if (kind === 'exited') engine.leave(sampleLaunch({ id }), 'exited');
    expect(await withPausedSandbox(parts, row, async () => (await engine.inspect(id, null)).kind)).toBe(kind);
  });

  it('and was paused by another program is refused', async () => {
    engine.leave(sampleLaunch({ id }), 'paused');
    await expect(withPausedSandbox(parts, row, async () => 'done')).rejects.toMatchObject({ code: 'conflict' });
  });
});
