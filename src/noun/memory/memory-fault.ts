/** Errors of SQLite and of the filesystem under a memory, as Faults. */
import { databaseFault } from '../../lib/data/database-fault.ts';
import type { Fault } from '../../model/fault.ts';

const damagedHint =
  'The next request checks the file, and sets it aside if it cannot be used: see carrel memory stats.';

export function memoryFault(folder: string, error: unknown): Fault {
  return databaseFault(error, { folder, name: `the memory in ${folder}`, damagedHint });
}
