import { join } from 'node:path';
import type { Home } from '../../../kernel/home/home.ts';
import type { Kernel } from '../../../kernel/kernel.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { removeTree } from '../../../lib/file/file.ts';
import type { Apply } from '../model/apply.ts';

export interface JournalParts extends Pick<Kernel, 'store' | 'now'> {
  readonly home: Pick<Home, 'applies'>;
}

/** In these states the journal can go; in others it is needed to finish the apply, or has the only copy of a file. */
const over: readonly Apply['state'][] = ['done', 'undone'];

/** Removes applies whose sandboxes are all gone: an apply can be undone only through one of its sandboxes. */
export async function forgetApplies({ store, home, now }: JournalParts, going: string | null = null): Promise<void> {
  const stays = (id: string) => id !== going && isThere(store, id);
  const rows = store.list('apply').filter(({ value }) => over.includes(value.state));
  for (const { id, value } of rows.filter(({ value }) => !value.sandboxes.some((sandbox) => stays(sandbox.id)))) {
    await removeTree(join(home.applies, id));
    const row = store.get('apply', id);
    const data = { project: value.project, user: row?.owner };
    if (row) store.remove(row, { at: now(), type: 'apply.forgotten', subject: id, data });
  }
}

function isThere(store: Store, id: string): boolean {
  const sandbox = store.get('sandbox', id)?.value;
  return sandbox !== undefined && sandbox.spec.desired !== 'removed';
}
