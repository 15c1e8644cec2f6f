/** What a store refuses, whatever it keeps its rows in. */
import { asFault, Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import type { Row, RowKind } from './store.ts';

type Identity = Pick<Row<RowKind>, 'kind' | 'id' | 'name'>;

export const refusal = {
  idTaken: (row: Identity) =>
    new Fault('conflict', `${row.kind} ${printable(row.name)}: the id ${printable(row.id)} is taken`),
  nameTaken: (row: Identity) =>
    new Fault('conflict', `${row.kind} ${printable(row.name)} already exists`, { hint: 'Choose another name.' }),
  moved: (row: Identity) =>
    new Fault('conflict', `${row.kind} ${printable(row.name)} was changed by another request meanwhile`, {
      hint: 'Read it again and repeat the change.',
    }),
  gone: (row: Identity) => new Fault('not_found', `${row.kind} ${printable(row.name)} does not exist any more`),
  closed: () => new Fault('unavailable', 'the store is closed'),
};

/** Encodes a value as JSON. A value that is not JSON is a bug, found before anything is written. */
export function encode(value: unknown): string {
  try {
    const text = JSON.stringify(value);
    if (text !== undefined) return text;
  } catch (error) {
    throw new Fault('internal', `cannot store what is not JSON: ${asFault(error).message}`, { cause: error });
  }
  throw new Fault('internal', 'cannot store what is not JSON: undefined');
}
