/**
 * Refused files, in dead/: the newest thousand, at most 64 KiB of each, with a file for the reason. All refusals are
 * counted.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { printable } from '../../../model/name.ts';
import type { KeptRefusal } from '../room.ts';

const maxKept = 1000;
const maxSampleBytes = 64 * 1024;
const maxNameLength = 120;

export interface RefusedFile {
  readonly from: string;
  readonly name: string;
  readonly reason: string;
  /** Null: nothing of the file could be read. */
  readonly sample: Uint8Array | null;
  /** A second refusal with the same key is ignored. */
  readonly key?: string;
}

function prepare(db: Database) {
  return {
    add: db.prepare<[string, string, string, string, string, string | null]>(
      'INSERT INTO refusals (at, sender, name, file, reason, key) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    isKnown: db
      .prepare<[string, string], number>('SELECT 1 FROM refusals WHERE key = ? UNION SELECT 1 FROM keys WHERE key = ?')
      .pluck(),
    isTaken: db.prepare<[string], number>('SELECT 1 FROM refusals WHERE file = ?').pluck(),
    old: db.prepare<[number], { readonly seq: number; readonly file: string }>(
      'SELECT seq, file FROM refusals ORDER BY seq DESC LIMIT 1000 OFFSET ?',
    ),
    newest: db.prepare<[number], KeptRefusal>(
      'SELECT at, sender AS "from", name, file, reason FROM refusals ORDER BY seq DESC LIMIT ?',
    ),
    remove: db.prepare<[number]>('DELETE FROM refusals WHERE seq = ?'),
    // Refusals that are no longer kept count too.
    count: db.prepare<[], number>("SELECT seq FROM sqlite_sequence WHERE name = 'refusals'").pluck(),
  };
}

export class RefusedFiles {
  readonly #folder: string;
  readonly #sql: ReturnType<typeof prepare>;

  constructor(room: string, db: Database) {
    this.#folder = join(room, 'dead');
    this.#sql = prepare(db);
  }

  get count(): number {
    return this.#sql.count.get() ?? 0;
  }

  /** The kept refusals, the newest first. */
  list(limit: number): KeptRefusal[] {
    return this.#sql.newest.all(limit);
  }

  /** Call it within a transaction. */
  add({ from, name, reason, sample, key }: RefusedFile, at: string): void {
    if (key !== undefined && this.#sql.isKnown.get(key, key) !== undefined) return;
    const file = this.#freeName(safeName(name));
    this.#sql.add.run(at, from, name, file, reason, key ?? null);
    writeFileSync(join(this.#folder, file), (sample ?? new Uint8Array()).subarray(0, maxSampleBytes), { mode: 0o600 });
    writeFileSync(join(this.#folder, `${file}.reason`), `${at} from ${from}, ${printable(name, 255)}: ${reason}\n`, {
      mode: 0o600,
    });
    this.#dropOld();
  }

  #freeName(name: string): string {
    let free = name;
    while (this.#sql.isTaken.get(free) !== undefined) free += `~${this.count + 1}`;
    return free;
  }

  #dropOld(): void {
    for (const { seq, file } of this.#sql.old.all(maxKept)) {
      for (const name of [file, `${file}.reason`]) rmSync(join(this.#folder, name), { force: true });
      this.#sql.remove.run(seq);
    }
  }
}

/** Returns a name that can be typed, is not hidden, and cannot be the `.reason` file of another entry. */
export function safeName(name: string): string {
  const plain = name
    .replace(/[^A-Za-z0-9._+@=,-]/gu, '_')
    .replace(/^\./, '_')
    .slice(0, maxNameLength);
  return plain === '' ? '_' : plain.replace(/\.reason$/, '.reason_');
}
