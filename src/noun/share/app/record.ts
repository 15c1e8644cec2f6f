/** The rows of shares. */

import type { Row, Store } from '../../../kernel/store/store.ts';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';

export type ShareRow = Row<'share'>;

export function findShare(store: Store, user: string, name: string): ShareRow {
  const row = store.find('share', user, name);
  if (row !== null) return row;
  const names = store.list('share', user).map((one) => one.name);
  const hint = names.length === 0 ? 'Add one with: carrel share add NAME FOLDER' : `There are: ${names.join(', ')}`;
  throw new Fault('not_found', `no share ${printable(name)}`, { hint });
}

export function noConsumer(share: string, consumer: string, known: readonly string[]): Fault {
  const hint = known.length === 0 ? 'It has none.' : `It has: ${known.join(', ')}`;
  return new Fault('not_found', `${printable(consumer)} is not a consumer of ${share}`, { hint });
}

export function isRevoking(name: string): Fault {
  return new Fault('conflict', `the share ${name} is being revoked`, { hint: 'See: carrel share ls' });
}
