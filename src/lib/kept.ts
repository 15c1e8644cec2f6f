/**
 * Statements and connections that are never garbage-collected. On Node 24.19 and later an addon of the older kind,
 * which better-sqlite3 12 is, ends the process when one of its objects is collected (nodejs/node#65446). There are only
 * a few.
 */
import type { Database } from 'better-sqlite3';

const kept: unknown[] = [];

export function keep<T>(object: T): T {
  kept.push(object);
  return object;
}

/** The value of a pragma. For one that is set repeatedly: `exec`. */
export function pragma(db: Database, text: string): unknown {
  return keep(db.prepare(`PRAGMA ${text}`))
    .pluck()
    .get();
}
