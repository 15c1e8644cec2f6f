import type { Engines } from '../../../kernel/engine/engines.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { asFault, type Fault } from '../../../model/fault.ts';

/**
 * Removes sandboxes that an engine holds without a record. `isVisit`: visits under way have no record either, and stay.
 */
export async function removeOrphans(
  store: Store,
  engines: Pick<Engines, 'list'>,
  report: (id: string, fault: Fault) => void,
  isVisit: (id: string) => boolean = () => false,
): Promise<void> {
  for (const { id, engine } of await engines.list()) {
    if (store.get('sandbox', id) !== null || isVisit(id)) continue;
    await engine.remove(id, null).catch((error: unknown) => report(id, asFault(error)));
  }
}
