import type { Engines } from '../engine/engines.ts';
import { asFault, type Fault } from '../model/fault.ts';
import type { Store } from '../store/store.ts';

/** What an engine holds and no record owns is removed: a record is written before the engine acts and goes after it. */
export async function removeOrphans(
  store: Store,
  engines: Pick<Engines, 'list'>,
  report: (id: string, fault: Fault) => void,
  isOurs: (id: string) => boolean = () => false,
): Promise<void> {
  for (const { id, engine } of await engines.list()) {
    if (store.get('sandbox', id) !== null || isOurs(id)) continue;
    await engine.remove(id, null).catch((error: unknown) => report(id, asFault(error)));
  }
}
