/**
 * Connections to SQLite files. They and their statements are never garbage-collected: on Node 24.19 and later an addon of the
 * older kind, which better-sqlite3 12 is, ends the process when one of its objects is collected (nodejs/node#65446). So a
 * statement is prepared once and used again.
 */
import Database from 'better-sqlite3';

const kept: unknown[] = [];

export function openSqlite(path: string, options: Database.Options = {}): Database.Database {
  const db = keep(new Database(path, options));
  const prepare = db.prepare.bind(db) as (text: string) => Database.Statement;
  const prepareKept = (text: string) => keep(prepare(text));
  const pragma = (text: string, { simple = false }: Database.PragmaOptions = {}) => {
    const statement = prepareKept(`PRAGMA ${text}`);
    return simple ? statement.pluck().get() : statement.all();
  };
  return Object.assign(db, { prepare: prepareKept, pragma });
}

function keep<T>(object: T): T {
  kept.push(object);
  return object;
}
