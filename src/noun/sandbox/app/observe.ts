/** The observed state of sandboxes for requests that only read: they do not wait for an engine that does not answer. */

import type { EngineOf } from '../../../kernel/engine/engine.ts';
import type { Row, Store } from '../../../kernel/store/store.ts';
import { withTimeout } from '../../../lib/flow/with-timeout.ts';
import { asFault, faultTable, isFault } from '../../../model/fault.ts';
import type { StatsView } from '../api.ts';
import type { Sandbox } from '../model.ts';
import type { Reconciler } from '../reconcile/reconcile.ts';

const silentMs = 5000;

/** Records the observed state. Returns null, or why the engine could not be asked. */
export async function observe(reconciler: Reconciler, row: Row<'sandbox'>): Promise<string | null> {
  const seen = reconciler.refresh(row).then(() => null);
  try {
    return await withTimeout<string | null>(silentMs, seen, () => silent(row));
  } catch (error) {
    if (!isFault(error) || !faultTable[error.code].retry) throw error;
    return error.message;
  }
}

/** A sandbox, and why its engine could not be asked; null: it could. */
export type ObservedSandbox = readonly [sandbox: Sandbox, unseen: string | null];

/** Observes many sandboxes, and returns what is recorded afterwards. */
export async function observeAll(
  { store, reconciler }: { readonly store: Store; readonly reconciler: Reconciler },
  list: () => readonly Row<'sandbox'>[],
): Promise<ObservedSandbox[]> {
  const [before, rows] = [store.lastSeq(), list()];
  const unseen = new Map<string, string | null>(rows.map((row) => [row.id, silent(row)]));
  const refreshes = rows.map((row) =>
    reconciler.refresh(row).then(
      () => unseen.set(row.id, null),
      (error: unknown) => unseen.set(row.id, asFault(error).message),
    ),
  );
  // One timer for all: hundreds of timers would cost more than the observations.
  await withTimeout<unknown>(silentMs, Promise.all(refreshes), () => null);
  const now = store.lastSeq() === before ? rows : list();
  return now.map(({ id, value }) => [value, unseen.get(id) ?? null]);
}

function silent({ value }: Row<'sandbox'>): string {
  return `the engine ${value.spec.engine} gives no answer`;
}

export async function statsOfRunning(engineOf: EngineOf, rows: readonly Row<'sandbox'>[]): Promise<StatsView[]> {
  const running = rows.filter(({ value }) => value.status.state === 'running');
  const views = await Promise.all(running.map((row) => statsOf(engineOf, row.value)));
  return views.filter((view) => view !== null);
}

/** Null if there is nothing to measure, or the engine cannot measure it. */
async function statsOf(engineOf: EngineOf, sandbox: Sandbox): Promise<StatsView | null> {
  const { id, name, spec, status } = sandbox;
  try {
    const stats = await withTimeout(silentMs, engineOf(sandbox).stats(id, status.handle), () => null);
    if (stats === null) return null;
    const { cpus, memoryBytes, pids } = spec.limits;
    return { name, ...stats, cpus, memoryLimitBytes: memoryBytes, pidsLimit: pids, advisory: [...status.advisory] };
  } catch (error) {
    // The sandbox ended meanwhile, ignoring.
    if (isFault(error)) return null;
    throw error;
  }
}
