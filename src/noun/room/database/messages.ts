/** The messages in the database of a room. */
import type { Database } from 'better-sqlite3';
import type { AttachedFile, MessageVia, RoomMessage } from '../model/room.ts';
import type { Meta } from './database.ts';

/** A message with its number. */
export type Numbered = RoomMessage & { readonly seq: number };

interface RawMessage {
  readonly seq: number;
  readonly id: string;
  readonly sender: string;
  readonly at: string;
  readonly via: string;
  readonly mentions: string;
  readonly reply_to: string | null;
  readonly attachments: string;
  readonly body: string;
}

const columns = 'seq, id, sender, at, via, mentions, reply_to, attachments, body';

function prepare(db: Database) {
  return {
    insert: db.prepare<[RawMessage]>(
      `INSERT INTO messages (${columns})
       VALUES (@seq, @id, @sender, @at, @via, @mentions, @reply_to, @attachments, @body)`,
    ),
    index: db.prepare<[number, string]>('INSERT INTO words (rowid, body) VALUES (?, ?)'),
    unindex: db.prepare<[number, string]>("INSERT INTO words (words, rowid, body) VALUES ('delete', ?, ?)"),
    remove: db.prepare<[number]>('DELETE FROM messages WHERE seq <= ?'),
    get: db.prepare<[string], RawMessage>(`SELECT ${columns} FROM messages WHERE id = ?`),
    after: db.prepare<[string, number], RawMessage>(`SELECT ${columns} FROM messages WHERE id > ? ORDER BY id LIMIT ?`),
    newest: db.prepare<[string, number], RawMessage>(
      `SELECT * FROM (SELECT ${columns} FROM messages WHERE id > ? ORDER BY id DESC LIMIT ?) ORDER BY id`,
    ),
    from: db.prepare<[number, number], RawMessage>(
      `SELECT ${columns} FROM messages WHERE seq >= ? ORDER BY seq LIMIT ?`,
    ),
    search: db.prepare<[string, number], RawMessage>(
      `SELECT ${columns} FROM messages
       WHERE seq IN (SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?) ORDER BY seq DESC`,
    ),
    seqUpTo: db.prepare<[string], number>('SELECT seq FROM messages WHERE id <= ? ORDER BY id DESC LIMIT 1').pluck(),
    first: db.prepare<[], number | null>('SELECT min(seq) FROM messages').pluck(),
    last: db.prepare<[], RawMessage>(`SELECT ${columns} FROM messages ORDER BY seq DESC LIMIT 1`),
    addKey: db.prepare<[string, string, string]>('INSERT INTO keys (key, id, at) VALUES (?, ?, ?)'),
    findKey: db.prepare<[string], string>('SELECT id FROM keys WHERE key = ?').pluck(),
    expireKeys: db.prepare<[string, string]>("DELETE FROM keys WHERE id <= ? AND at < ? AND key NOT GLOB 'hook:*'"),
  };
}

/** The last message that the room ever had; it may be archived. */
export interface Last {
  readonly seq: number;
  readonly id: string | null;
}

const nothing: Last = { seq: 0, id: null };

export class Messages {
  readonly #sql: ReturnType<typeof prepare>;
  readonly #meta: Meta;

  constructor(db: Database, meta: Meta) {
    this.#sql = prepare(db);
    this.#meta = meta;
  }

  insert(message: Numbered, key: string | undefined): void {
    const { seq, id, from, at, via, mentions, replyTo, attachments, body } = message;
    this.#sql.insert.run({
      ...{ seq, id, sender: from, at, via, reply_to: replyTo, body },
      mentions: JSON.stringify(mentions),
      attachments: JSON.stringify(attachments),
    });
    this.#sql.index.run(seq, body);
    if (key !== undefined) this.#sql.addKey.run(key, id, at);
  }

  /** The id of the message that was posted with a key. */
  idOf(key: string): string | null {
    return this.#sql.findKey.get(key) ?? null;
  }

  get(id: string): Numbered | null {
    const raw = this.#sql.get.get(id);
    return raw === undefined ? null : messageOf(raw);
  }

  after(id: string | null, limit: number): Numbered[] {
    return this.#sql.after.all(id ?? '', limit).map(messageOf);
  }

  newest(after: string | null, limit: number): Numbered[] {
    return this.#sql.newest.all(after ?? '', limit).map(messageOf);
  }

  /** Messages with this number or a greater one. */
  from(seq: number, limit: number): Numbered[] {
    return this.#sql.from.all(seq, limit).map(messageOf);
  }

  search(text: string, limit: number): Numbered[] {
    const query = searchQuery(text);
    return query === '' ? [] : this.#sql.search.all(query, limit).map(messageOf);
  }

  /** The number of the last message whose id is not greater than `id`; 0: there is none, or it is archived. */
  seqUpTo(id: string): number {
    return this.#sql.seqUpTo.get(id) ?? 0;
  }

  last(): Last {
    const raw = this.#sql.last.get();
    return raw === undefined ? (this.#meta.get<Last>('last') ?? nothing) : { seq: raw.seq, id: raw.id };
  }

  /** The number of the first message that is kept; if none is kept, the last number plus one. */
  firstSeq(): number {
    return this.#sql.first.get() ?? this.last().seq + 1;
  }

  /**
   * Removes the oldest messages, which are in the archive already. Their keys are removed too if they are older than
   * `keysBefore`, except the keys of webhooks: a signed request can be sent again after years.
   */
  remove(oldest: readonly Numbered[], keysBefore: string): void {
    const end = oldest.at(-1);
    if (end === undefined) return;
    this.#meta.set('last', this.last());
    for (const { seq, body } of oldest) this.#sql.unindex.run(seq, body);
    this.#sql.remove.run(end.seq);
    this.#sql.expireKeys.run(end.id, keysBefore);
  }
}

export function withoutSeq({ seq: _, ...message }: Numbered): RoomMessage {
  return message;
}

/** All words must occur, the last one as a prefix. They are quoted, so that none of them is an operator. */
export function searchQuery(text: string): string {
  const words = text.split(/[^\p{L}\p{N}\p{M}]+/u).filter((word) => word !== '');
  return words.length === 0 ? '' : `${words.map((word) => `"${word}"`).join(' ')}*`;
}

function messageOf(raw: RawMessage): Numbered {
  return {
    ...{ seq: raw.seq, id: raw.id, from: raw.sender, at: raw.at, via: raw.via as MessageVia },
    mentions: JSON.parse(raw.mentions) as string[],
    replyTo: raw.reply_to,
    attachments: JSON.parse(raw.attachments) as AttachedFile[],
    body: raw.body,
  };
}
