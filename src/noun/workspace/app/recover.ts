/** Finishes or removes what an earlier daemon left of working copies. */

import type { Home } from '../../../kernel/home/home.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { sweepScratch } from '../../../lib/file/scratch.ts';
import type { Fault } from '../../../model/fault.ts';
import type { Applies } from './applies.ts';
import { forgetApplies } from './apply-journal.ts';
import { sweepFolders } from './sweep.ts';

export interface WorkspaceRecovery {
  readonly home: Home;
  readonly store: Store;
  readonly applies: Applies;
  readonly now: () => string;
  readonly report: (id: string, fault: Fault) => void;
}

export async function recoverWorkspaces({ home, store, applies, now, report }: WorkspaceRecovery): Promise<void> {
  await sweepScratch(home.installation);
  await sweepFolders(home, (id) => store.get('sandbox', id) !== null);
  await applies.recover(report);
  await forgetApplies({ store, home, now });
}
