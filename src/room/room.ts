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
 * A file in an inbox is first renamed to `.carrel/taking/KEY`, out of reach of its writer, then posted with that key, then removed.
 * Whatever is killed, the key tells whether the transaction happened. Ids are assigned in the transaction: an id that was fixed
 * earlier could be smaller than one that was committed meanwhile.
 *
 * The databases of all rooms are in one thread (`room-thread.ts`), so that the daemon answers while a disk is slow.
 *
 * A process that opens a room locks it until it closes it or ends.
 *
 * Faults: `not_found`, `conflict` (another process has the room; a name of another kind), `invalid`, `denied`, `exhausted`
 * (rate, size, disk full), `corrupt`.
 */
import type { Message, Participant, ParticipantKind, Retention, RoomLimits, Via } from '../model/room.ts';

/** A file that comes with a post. The room copies it: its writer may still have it open. */
export interface NewAttachment {
  readonly name: string;
  /** Absolute, out of reach of the sender. The caller removes it afterwards. */
  readonly file: string;
}

export interface NewMessage {
  readonly from: Participant;
  readonly via: Via;
  readonly body: string;
  /** Left out if there is no such message. */
  readonly replyTo?: string | null;
  readonly attachments?: readonly NewAttachment[];
  /** The same key twice is one message: the second post changes nothing and answers with the first. */
  readonly key?: string;
}

export interface ReadOptions {
  /** Messages with greater ids. Null: from the first one that is kept. */
  readonly after: string | null;
  readonly limit: number;
  /** The newest of them, instead of the first. In the order of the room in any case. */
  readonly newest?: boolean;
}

export interface ParticipantStatus {
  readonly name: string;
  /** Null: it was mentioned and has not posted. */
  readonly kind: ParticipantKind | null;
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

/** An entry of dead/. */
export interface KeptRefusal {
  readonly at: string;
  readonly from: string;
  /** In the inbox. */
  readonly name: string;
  /** In dead/. */
  readonly file: string;
  readonly reason: string;
}

export interface Room {
  readonly folder: string;
  /** Durable when it resolves. */
  post(message: NewMessage): Promise<Message>;
  read(options: ReadOptions): Promise<readonly Message[]>;
  /** Archived ones too. */
  get(id: string): Promise<Message | null>;
  /** Messages that retention moved to the archive. */
  readArchived(options: ReadOptions): Promise<readonly Message[]>;
  /** Every message after the id, or from the first that is kept, then new ones as they are committed, until the signal. */
  follow(after: string | null, signal: AbortSignal): AsyncIterable<Message>;
  /** Messages with all these words, the newest first, archived ones after the others. */
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
  /** An inbox for a participant, which it keeps until `removeInbox`, across restarts. Repeat-safe. Answers with the folder. */
  addInbox(participant: Participant): Promise<string>;
  /** The participant writes no more: what lies there is delivered, then the folder is removed. Repeat-safe. */
  removeInbox(name: string): Promise<void>;
  /** Keeps what was refused, with the reason. `sample` has at most 64 KiB of it. */
  refuse(refusal: {
    readonly from: string;
    readonly name: string;
    readonly reason: string;
    readonly sample: Uint8Array | null;
    /** The same key twice is one entry. */
    readonly key?: string;
  }): Promise<void>;
  /** What is kept of that, the newest first. */
  refusals(limit: number): Promise<readonly KeptRefusal[]>;
  status(): Promise<RoomStatus>;
  /** Repairs the views if those that grow have another length than they should have: this costs the same in a room of any size. */
  check(): Promise<number>;
  /** Writes views again that differ from the database. Answers with how many files it wrote. */
  repair(): Promise<number>;
  close(): Promise<void>;
}

/** All rooms of a daemon. */
export interface Rooms {
  /** Creates the folder and the database if they are not there. A room that is open already is answered with as it is. */
  open(folder: string, about: RoomAbout): Promise<Room>;
  close(): Promise<void>;
}

/** What `room.yaml` says, and the limits of posts. */
export interface RoomAbout {
  readonly name: string;
  readonly createdBy: string;
  readonly createdAt: string;
  readonly retention: Retention | null;
  readonly limits: RoomLimits;
}

/** The folder that a participant other than the owner writes files to. */
export interface Inbox {
  readonly participant: Participant;
  readonly folder: string;
}
