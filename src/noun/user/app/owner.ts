import type { Store } from '../../../kernel/store/store.ts';
import { accountName } from '../../../lib/sys/account.ts';
import { isFault } from '../../../model/fault.ts';

/** Makes the account that runs the daemon the owner of the installation and its first user. */
export function ensureOwner(store: Store, at: string, name = process.env.CARREL_OWNER ?? accountName()): string {
  const first = store.list('user')[0];
  if (first) return first.name;
  try {
    const value = { name, slot: 0, createdAt: at };
    store.insert(
      { kind: 'user', id: name, owner: '', name, value },
      { at, type: 'user.created', subject: name, data: { name } },
    );
  } catch (error) {
    if (!isFault(error, 'conflict')) throw error;
  }
  return name;
}
