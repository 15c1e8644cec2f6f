/** The store in memory: the one of the product, in SQLite, without a file below it. */
import { migrate } from '../../../src/kernel/store/migrations.ts';
import { SqliteStore } from '../../../src/kernel/store/sqlite.ts';
import type { Store, StoreOptions } from '../../../src/kernel/store/store.ts';
import { openSqlite } from '../../../src/lib/data/sqlite.ts';

export function createMemoryStore(options: StoreOptions = {}): Store {
  const path = ':memory:';
  const db = openSqlite(path);
  migrate(db);
  return new SqliteStore({ path, db, refuseIfFull: () => {}, flush: async () => {}, close: () => db.close() }, options);
}
