/** The versions of all files of a bank, the newest state of each file, and the locks. */
import type { Database, Statement } from 'better-sqlite3';
import { Fault } from '../../../../model/fault.ts';
import { formatSize } from '../../../../model/size.ts';
import type { BankAct, BankLimits, BankLock, BankVersion, BankWriter } from '../../model/bank.ts';
import { isDiskFull } from '../bank-fault.ts';

export interface FileState {
  readonly path: string;
  readonly version: number;
  /** Null: the file was removed. */
  readonly hash: string | null;
  readonly bytes: number | null;
  readonly stamp: string | null;
}

export interface NewVersion {
  readonly path: string;
  readonly act: BankAct;
  readonly by: BankWriter;
  readonly at: string;
  readonly hash: string | null;
  readonly bytes: number | null;
  /** Null: the file was removed, or its content is not kept. */
  readonly content: Buffer | null;
}

interface VersionRow {
  readonly id: number;
  readonly path: string;
  readonly version: number;
  readonly at: string;
  readonly act: BankAct;
  readonly author: string;
  readonly hash: string | null;
  readonly bytes: number | null;
  readonly kept: number;
}

export interface PendingVersion {
  readonly id: number;
  readonly path: string;
  readonly version: number;
  readonly hash: string;
}

/** The most rows that are dropped in one transaction. */
const dropBatch = 200;
/** The key of the highest version of all files that were forgotten. */
const forgottenKey = 'forgotten';

const columns = 'id, path, version, at, act, author, hash, bytes, content IS NOT NULL AS kept';

export class History {
  readonly #db: Database;
  readonly #limits: BankLimits;
  /** The totals at which nothing could be dropped. */
  #fullAt: string | null = null;
  #filesFullAt: string | null = null;
  readonly #statements = new Map<string, Statement<unknown[], never>>();

  constructor(db: Database, limits: BankLimits) {
    this.#db = db;
    this.#limits = limits;
  }

  transact<T>(work: () => T): T {
    return this.#db.transaction(work).immediate();
  }

  file(path: string): FileState | null {
    return this.#get<FileState>('SELECT * FROM files WHERE path = ?', path) ?? null;
  }

  files(): FileState[] {
    return this.#all<FileState>('SELECT * FROM files');
  }

  fileCount(): number {
    return this.#get<{ n: number }>('SELECT count(*) AS n FROM files')!.n;
  }

  setStamp(path: string, stamp: string | null): void {
    this.#runIfSpace('UPDATE files SET stamp = ? WHERE path = ?', stamp, path);
  }

  /** Adds a version that is not acknowledged yet. */
  add(one: NewVersion, isPending: boolean): { readonly id: number; readonly version: number } {
    const last = this.#get<{ n: number | null }>('SELECT max(version) AS n FROM versions WHERE path = ?', one.path)?.n;
    const known = last ?? this.file(one.path)?.version ?? Number(this.meta(forgottenKey) ?? 0);
    const version = Math.max(known, this.file(one.path)?.version ?? 0) + 1;
    const values = [one.path, version, one.at, one.act, writerKey(one.by), JSON.stringify(one.by)];
    this.#run(
      'INSERT INTO versions (path, version, at, act, writer, author, hash, bytes, content, pending) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      ...values,
      one.hash,
      one.bytes,
      one.content,
      isPending ? 1 : 0,
    );
    const { id } = this.#get<{ id: number }>('SELECT last_insert_rowid() AS id')!;
    return { id, version };
  }

  /** Makes a pending version the newest version of its file. */
  settle(id: number, stamp: string | null): void {
    this.#run('UPDATE versions SET pending = 0 WHERE id = ?', id);
    this.#run(
      `INSERT INTO files SELECT path, version, hash, bytes, ? FROM versions WHERE id = ?
       ON CONFLICT (path) DO UPDATE SET version = excluded.version, hash = excluded.hash, bytes = excluded.bytes, stamp = excluded.stamp`,
      stamp,
      id,
    );
  }

  drop(id: number): void {
    this.#run('DELETE FROM versions WHERE id = ?', id);
  }

  pending(): PendingVersion[] {
    return this.#all<PendingVersion>('SELECT id, path, version, hash FROM versions WHERE pending = 1');
  }

  version(path: string, version: number): BankVersion | null {
    const row = this.#get<VersionRow>(`SELECT ${columns} FROM versions WHERE path = ? AND version = ?`, path, version);
    return row === undefined ? null : viewOf(row);
  }

  /** The newest version before this one; null: none is left. */
  versionBefore(path: string, version: number): BankVersion | null {
    const row = this.#get<VersionRow>(
      `SELECT ${columns} FROM versions WHERE path = ? AND version < ? AND pending = 0 ORDER BY version DESC LIMIT 1`,
      path,
      version,
    );
    return row === undefined ? null : viewOf(row);
  }

  content(path: string, version: number): Buffer | null {
    const found = this.#get<{ content: Buffer | null }>(
      'SELECT content FROM versions WHERE path = ? AND version = ?',
      path,
      version,
    );
    return found?.content ?? null;
  }

  /** The newest first: versions of one file, of a folder, or all. */
  log(path: string | null, limit: number): BankVersion[] {
    // "0" follows "/": so the range has all paths that begin with the folder.
    const range = path === null ? ['', '', '\u{10ffff}'] : [path, `${path}/`, `${path}0`];
    const rows = this.#all<VersionRow>(
      `SELECT ${columns} FROM versions WHERE pending = 0 AND (path = ? OR (path >= ? AND path < ?)) ORDER BY id DESC LIMIT ?`,
      ...range,
      limit,
    );
    return rows.map(viewOf);
  }

  totals(): { readonly versions: number; readonly bytes: number } {
    return this.#get<{ versions: number; bytes: number }>('SELECT versions, bytes FROM total')!;
  }

  /**
   * Drops versions that lie between two versions of the same writer. False: there is still no room. Do not call it in a
   * transaction that may be rolled back: the search takes long, so its result is remembered until the totals change.
   */
  makeRoom(bytes: number): boolean {
    const { historyBytes, versions } = this.#limits;
    for (;;) {
      const total = this.totals();
      if (total.bytes + bytes <= historyBytes && total.versions < versions) return true;
      const state = `${total.bytes} ${total.versions}`;
      if (state === this.#fullAt) return false;
      if (this.#dropBetween() > 0) continue;
      this.#fullAt = state;
      return false;
    }
  }

  /**
   * Makes room for the record of a new file: forgets files that one writer created and removed again, the oldest first.
   * False: there is none.
   */
  makeRoomForFile(): boolean {
    const files = this.fileCount();
    if (files < this.#limits.files) return true;
    const state = `${files} ${this.totals().versions}`;
    if (state === this.#filesFullAt) return false;
    if (this.#forgetRemoved() > 0) return true;
    this.#filesFullAt = state;
    return false;
  }

  /**
   * A new file of the same name continues after the highest version that was forgotten, so that an expected version
   * never matches another content.
   */
  #forgetRemoved(): number {
    const found = this.#all<{ path: string; version: number }>(
      `SELECT path, version FROM files WHERE hash IS NULL
       AND (SELECT count(DISTINCT writer) = 1 AND max(pending) = 0 FROM versions WHERE versions.path = files.path)
       ORDER BY (SELECT max(id) FROM versions WHERE versions.path = files.path) LIMIT ${dropBatch}`,
    );
    if (found.length === 0) return 0;
    this.transact(() => {
      const highest = Math.max(Number(this.meta(forgottenKey) ?? 0), ...found.map(({ version }) => version));
      this.setMeta(forgottenKey, String(highest));
      for (const { path } of found) {
        this.#run('DELETE FROM versions WHERE path = ?', path);
        this.#run('DELETE FROM files WHERE path = ?', path);
      }
    });
    return found.length;
  }

  #dropBetween(): number {
    return this.#run(
      `DELETE FROM versions WHERE id IN (
         SELECT id FROM (
           SELECT id, pending, writer, version, lag(writer) OVER file AS before, lead(writer) OVER file AS after
           FROM versions WINDOW file AS (PARTITION BY path ORDER BY version)
         ) WHERE pending = 0 AND before = writer AND after = writer ORDER BY id LIMIT ${dropBatch}
       )`,
    );
  }

  meta(key: string): string | null {
    return this.#get<{ value: string }>('SELECT value FROM meta WHERE key = ?', key)?.value ?? null;
  }

  setMeta(key: string, value: string): void {
    this.#run('INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value', key, value);
  }

  /** The locks that have not expired. */
  locks(now: string): BankLock[] {
    this.#runIfSpace('DELETE FROM locks WHERE until <= ?', now);
    const sql = 'SELECT * FROM locks WHERE until > ? ORDER BY path';
    return this.#all<{ path: string; author: string; until: string }>(sql, now).map(({ path, author, until }) => ({
      ...{ path, until },
      by: JSON.parse(author) as BankWriter,
    }));
  }

  setLock(path: string, by: BankWriter, until: string): void {
    this.#run(
      'INSERT INTO locks VALUES (?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET writer = excluded.writer, author = excluded.author, until = excluded.until',
      ...[path, writerKey(by), JSON.stringify(by), until],
    );
  }

  removeLock(path: string, by: BankWriter): boolean {
    return this.#run('DELETE FROM locks WHERE path = ? AND writer = ?', path, writerKey(by)) > 0;
  }

  #get<T>(sql: string, ...values: unknown[]): T | undefined {
    return this.#statement(sql).get(...values) as T | undefined;
  }

  #all<T>(sql: string, ...values: unknown[]): T[] {
    return this.#statement(sql).all(...values) as T[];
  }

  #run(sql: string, ...values: unknown[]): number {
    return this.#statement(sql).run(...values).changes;
  }

  /** For changes that a later call repeats. Calls that only read use it, so that they work on a full disk. */
  #runIfSpace(sql: string, ...values: unknown[]): void {
    try {
      this.#run(sql, ...values);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
    }
  }

  #statement(sql: string): Statement<unknown[], never> {
    const known = this.#statements.get(sql) ?? this.#db.prepare<unknown[], never>(sql);
    this.#statements.set(sql, known);
    return known;
  }
}

/**
 * A person is one writer in all terminals. A sandbox is known by its id, so a new one with an old name is another
 * writer.
 */
export function writerKey({ kind, name, id }: BankWriter): string {
  return `${kind}:${id ?? name}`;
}

export function historyFull({ historyBytes, versions }: BankLimits): Fault {
  const size = `${formatSize(historyBytes)} or ${versions} versions`;
  return new Fault('exhausted', `the history of the memory bank is full: it has ${size}`, {
    hint: 'Raise memory.bankHistory in config.yaml.',
  });
}

function viewOf({ path, version, at, act, author, bytes, kept }: VersionRow): BankVersion {
  return { path, version, at, act, by: JSON.parse(author) as BankWriter, bytes, isKept: kept === 1 };
}
