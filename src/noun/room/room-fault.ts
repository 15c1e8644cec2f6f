/** Errors of SQLite and of the filesystem under a room, as Faults. */
import { databaseFault, errorCode } from '../../lib/data/database-fault.ts';
import { Fault } from '../../model/fault.ts';

export function roomFault(folder: string, error: unknown): Fault {
  const name = `the room ${folder}`;
  if (/^(ENOENT|ENOTDIR)/.test(errorCode(error)))
    return new Fault('not_found', `${name} is not there`, { cause: error });
  return databaseFault(error, {
    ...{ folder, name, database: `the database of ${name}` },
    damagedHint: `Move ${folder} away and create the room again; its messages are files in processed/.`,
  });
}
