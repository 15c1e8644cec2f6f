/** Cleans up what an earlier daemon left of sandboxes. */
import type { Engines } from '../../../kernel/engine/engines.ts';
import type { Home } from '../../../kernel/home/home.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { asFault, type Fault } from '../../../model/fault.ts';
import { hasEnded } from '../model.ts';
import { removeOrphans } from '../reconcile/orphans.ts';
import { sweepTools } from '../tools/tools.ts';

export interface SandboxRecovery {
  readonly home: Home;
  readonly store: Store;
  readonly engines: Engines;
  readonly report: (id: string, fault: Fault) => void;
}

/** Orphans are removed before a sandbox can be started in their place. */
export async function recoverSandboxes({ home, store, engines, report }: SandboxRecovery): Promise<void> {
  if (!store.list('sandbox').some(({ value }) => !hasEnded(value.status))) sweepTools(home.tools);
  await removeOrphans(store, engines, report).catch((error: unknown) => report('sweep', asFault(error)));
}
