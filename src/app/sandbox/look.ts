/** How sandboxes are looked at for somebody who only reads, and does not wait for an engine that is silent. */
import type { StatsView } from '../../api/sandbox.ts';
import type { EngineOf } from '../../engine/engine.ts';
import { inTime } from '../../lib/in-time.ts';
import { consequences, isFault } from '../../model/fault.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import type { Reconciler } from '../../reconcile/reconcile.ts';
import type { Row } from '../../store/store.ts';

const silentMs = 5000;

/** Has what is so recorded; otherwise, why that could not be. */
export async function look(reconciler: Reconciler, row: Row<'sandbox'>): Promise<string | null> {
  const seen = reconciler.refresh(row).then(() => null);
  try {
    return await inTime<string | null>(silentMs, seen, () => `the engine ${row.value.spec.engine} gives no answer`);
  } catch (error) {
    if (!isFault(error) || !consequences[error.code].retry) throw error;
    return error.message;
  }
}

/** Null where there is nothing to measure, or nobody who does. */
export async function statsOf(engineOf: EngineOf, sandbox: Sandbox): Promise<StatsView | null> {
  const { id, name, spec, status } = sandbox;
  try {
    const stats = await inTime(silentMs, engineOf(sandbox).stats(id, status.handle), () => null);
    if (stats === null) return null;
    const { cpus, memoryBytes, pids } = spec.limits;
    return { name, ...stats, cpus, memoryLimitBytes: memoryBytes, pidsLimit: pids, advisory: [...status.advisory] };
  } catch (error) {
    // It ended meanwhile, ignoring.
    if (isFault(error)) return null;
    throw error;
  }
}
