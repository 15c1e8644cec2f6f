/**
 * The participants of a room. A removed participant stays as a record that is not listed: its name is not used for
 * another kind, and it keeps its read position if it posts again.
 */
import type { Database } from 'better-sqlite3';
import { Fault } from '../../../model/fault.ts';
import { everyone } from '../model/mention.ts';
import { checkParticipantName, type Participant, type ParticipantKind } from '../model/room.ts';
import type { ParticipantStatus } from '../room.ts';

interface Raw {
  readonly name: string;
  readonly kind: ParticipantKind | null;
  readonly is_listed: number;
  readonly last_post_at: string | null;
  readonly last_read_at: string | null;
  readonly position: string | null;
  readonly position_seq: number;
}

const columns = 'name, kind, is_listed, last_post_at, last_read_at, position, position_seq';

function prepare(db: Database) {
  return {
    get: db.prepare<[string], Raw>(`SELECT ${columns} FROM participants WHERE name = ?`),
    list: db.prepare<[], Raw>(`SELECT ${columns} FROM participants WHERE is_listed = 1 ORDER BY name`),
    count: db.prepare<[], number>('SELECT count(*) FROM participants').pluck(),
    add: db.prepare<[string, string | null]>(
      `INSERT INTO participants (name, kind, is_listed) VALUES (?, ?, 1)
       ON CONFLICT (name) DO UPDATE SET is_listed = 1, kind = coalesce(kind, excluded.kind)`,
    ),
    unlist: db.prepare<[string]>('UPDATE participants SET is_listed = 0 WHERE name = ? AND is_listed = 1'),
    posted: db.prepare<[string, string]>('UPDATE participants SET last_post_at = ? WHERE name = ?'),
    read: db.prepare<[string, string, number, string]>(
      'UPDATE participants SET last_read_at = ?, position = ?, position_seq = ? WHERE name = ?',
    ),
    seen: db.prepare<[string, string]>('UPDATE participants SET last_read_at = ? WHERE name = ?'),
    dropMentioned: db.prepare<[]>(
      `DELETE FROM participants WHERE name IN
       (SELECT name FROM participants WHERE kind IS NULL AND position IS NULL LIMIT 1)`,
    ),
  };
}

export class Participants {
  readonly #sql: ReturnType<typeof prepare>;
  readonly #max: number;

  constructor(db: Database, max: number) {
    this.#sql = prepare(db);
    this.#max = max;
  }

  list(lastSeq: number): ParticipantStatus[] {
    return this.#sql.list.all().map(({ name, kind, position, ...raw }) => ({
      ...{ name, kind, position },
      lastPostAt: raw.last_post_at,
      lastReadAt: raw.last_read_at,
      unread: Math.max(0, lastSeq - raw.position_seq),
    }));
  }

  names(): string[] {
    return this.#sql.list.all().map(({ name }) => name);
  }

  /** Whether the list has changed. */
  add({ name, kind }: Participant): boolean {
    const known = this.#sql.get.get(checkParticipantName(name));
    if (known?.kind && known.kind !== kind) throw otherKind(name, known.kind, kind);
    if (known?.kind && known.is_listed === 1) return false;
    if (known === undefined) this.#makeSpace();
    this.#sql.add.run(name, kind);
    return known?.is_listed !== 1;
  }

  /** Names beyond the limit are not added to the list. */
  mention(names: readonly string[]): boolean {
    let changed = false;
    for (const name of names) {
      const known = this.#sql.get.get(name);
      if (name === everyone || known?.is_listed === 1) continue;
      if (known === undefined && this.#sql.count.get()! >= this.#max) continue;
      this.#sql.add.run(name, null);
      changed = true;
    }
    return changed;
  }

  posted(name: string, at: string): void {
    this.#sql.posted.run(at, name);
  }

  remove(name: string): void {
    if (this.#sql.unlist.run(name).changes > 0) return;
    throw new Fault('not_found', `the room has no participant ${name}`, {
      hint: 'They are listed by: carrel room members NAME',
    });
  }

  /** Moves the read position only forward. */
  setPosition(name: string, at: string, position: { readonly id: string; readonly seq: number }): void {
    const known = this.#sql.get.get(name);
    if (known === undefined) throw new Fault('not_found', `the room has no participant ${name}`);
    if (known.position === null || position.id > known.position) {
      this.#sql.read.run(at, position.id, Math.max(position.seq, known.position_seq), name);
    } else this.#sql.seen.run(at, name);
  }

  /** At the limit, a name that was only mentioned is dropped for the new participant. */
  #makeSpace(): void {
    if (this.#sql.count.get()! < this.#max || this.#sql.dropMentioned.run().changes > 0) return;
    throw new Fault('exhausted', `the room has ${this.#max} participants, and that is the limit`, {
      hint: 'Raise rooms.participants in config.yaml.',
    });
  }
}

const inWords: Readonly<Record<ParticipantKind, string>> = {
  person: 'a person',
  sandbox: 'a sandbox',
  outside: 'a participant from outside',
  service: 'a service',
};

function otherKind(name: string, known: ParticipantKind, kind: ParticipantKind): Fault {
  return new Fault('conflict', `${name} is ${inWords[known]} in this room, and cannot be ${inWords[kind]}, too`, {
    hint: 'Use another name.',
  });
}
