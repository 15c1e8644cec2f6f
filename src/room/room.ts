/**
 * Rooms: folders of messages that many write and read at once. The format, and the rules that the tests prove, are in
 * docs/formats/room.md.
 *
 *   open → (post, read, follow, …)* → close
 *
 * `.carrel/room.db`, a SQLite database, has every message in its order. A post is acknowledged when its transaction is on
 * disk; posts that arrive together share one. The files that people and sandboxes read are views, written after the commit, in
 * order, and repaired from the database when the room is opened.
 *
 * A file in an inbox is first renamed to `.carrel/taking/ID`, out of reach of its writer, then copied into a transaction, then
 * removed. Whatever is killed, the id tells whether the transaction happened.
 *
 * A process that opens a room locks it until it closes it or ends.
 *
 * Faults: `not_found`, `conflict` (another process has the room; a name of another kind), `invalid`, `denied`, `exhausted`
 * (rate, size, disk full), `corrupt`.
 */
import type { Message, Participant, Retention } from '../model/room.ts';

/** Files that come with a post, already outside the reach of the sender. */
export interface NewAttachment {
  readonly name: string;
  /** A file that the room takes over by renaming it, or by a copy if that fails. */
  readonly file: string;
}

export interface NewMessage {
  readonly from: Participant;
  readonly via: Message['via'];
  readonly body: string;
  readonly replyTo?: string | null;
  readonly attachments?: readonly NewAttachment[];
  /** Given when the id was fixed before, by `taking/ID`. A post with an id that is there already changes nothing. */
  readonly id?: string;
  /** The same key twice is one message. */
  readonly key?: string;
}

export interface ReadOptions {
  /** Messages with greater ids. Null: from the first one that is kept. */
  readonly after: string | null;
  readonly limit: number;
}

export interface ParticipantStatus extends Participant {
  readonly lastPostAt: string | null;
  readonly lastReadAt: string | null;
  /** The id of the last message it read. */
  readonly position: string | null;
  readonly unread: number;
}

export interface RoomStatus {
  readonly messages: number;
  readonly archived: number;
  readonly lastId: string | null;
  readonly refused: number;
  /** How inboxes are watched. */
  readonly watch: 'inotify' | 'polling';
}

export interface Room {
  readonly folder: string;
  /** Durable when it resolves. */
  post(message: NewMessage): Promise<Message>;
  read(options: ReadOptions): Promise<readonly Message[]>;
  get(id: string): Promise<Message | null>;
  /** Every message after the id, then new ones as they are committed, until the signal. */
  follow(after: string | null, signal: AbortSignal): AsyncIterable<Message>;
  search(text: string, limit: number): Promise<readonly Message[]>;
  participants(): Promise<readonly ParticipantStatus[]>;
  /** `conflict` if another kind has the name. Repeat-safe. */
  addParticipant(participant: Participant): Promise<void>;
  removeParticipant(name: string): Promise<void>;
  /** Only forward; an earlier position changes nothing. */
  setPosition(name: string, id: string): Promise<void>;
  setRetention(retention: Retention | null): Promise<void>;
  /** Moves what retention says to the archive. */
  archive(now: Date): Promise<number>;
  /** Keeps what was refused, with the reason. `sample` has at most 64 KiB of it. */
  refuse(refusal: {
    readonly from: string;
    readonly name: string;
    readonly reason: string;
    readonly sample: Uint8Array | null;
  }): Promise<void>;
  status(): Promise<RoomStatus>;
  close(): Promise<void>;
}

/** The folder that a participant other than the owner writes files to. */
export interface Inbox {
  readonly participant: Participant;
  readonly folder: string;
}
