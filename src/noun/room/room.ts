/**
 * Rooms: folders of messages that many write and read at once. The format, and the rules that the tests prove, are in
 * docs/formats/room.md.
 *
 *   open → (post, read, follow, …)* → close
 *
 * No other noun gets a `Room`. `app/live-rooms.ts` opens them for what the app does: requests of users (`app/user-rooms.ts`), tools of
 * the hub, which know rooms by an interface of the hub (`app/caller-rooms.ts`), the inboxes of sandboxes (`app/sandbox-rooms.ts`),
 * watchers (`app/watch/watch.ts`) and webhooks (`app/webhooks.ts`). Other nouns know messages and grants by the model.
 *
 * `.carrel/room.db`, a SQLite database, has every message in its order. A post is acknowledged when its transaction is on
 * disk; posts that arrive together share one. The files that people and sandboxes read are views, written after the commit, in
 * order, and repaired from the database when the room is opened.
 *
 * A file in an inbox is first renamed to `.carrel/taking/KEY`, out of reach of its writer, then posted with that key,
 * then removed. After a kill at any point, the key tells whether the transaction was committed. Ids are assigned in the
 * transaction: an id that was fixed earlier could be smaller than one that was committed meanwhile.
 *
 * The databases of all rooms are in one thread (`room-objects.ts`), so that the daemon answers while a disk is slow.
 *
 * A process that opens a room locks it until it closes it or ends.
 *
 * Faults: `not_found`, `conflict` (another process has the room; a name of another kind), `invalid`, `denied`, `exhausted`
 * (rate, size, disk full), `corrupt`.
 */
import type { MessageVia, Participant, ParticipantKind, Retention, RoomLimits, RoomMessage } from './model/room.ts';

/** A file that comes with a post. The room copies it: its writer may still have it open. */
export interface NewAttachment {
  readonly name: string;
  /** Absolute, out of reach of the sender. The caller removes it afterwards. */
  readonly file: string;
}

export interface NewMessage {
  readonly from: Participant;
  readonly via: MessageVia;
  readonly body: string;
  /** Left out if there is no such message. */
  readonly replyTo?: string | null;
  readonly attachments?: readonly NewAttachment[];
  /** A second post with the same key changes nothing and returns the first message. */
  readonly key?: string;
}

export interface RoomReadOptions {
  /** Messages with greater ids. Null: from the first one that is kept. */
  readonly after: string | null;
  readonly limit: number;
  /** True: the newest `limit` messages instead of the first. The result is in the order of the room either way. */
  readonly newest?: boolean;
}

export interface ParticipantStatus {
  readonly name: string;
  /** Null: it was only mentioned and has never posted. */
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
  /** Its name in the inbox. */
  readonly name: string;
  /** Its name in dead/. */
  readonly file: string;
  readonly reason: string;
}

export interface Room {
  readonly folder: string;
  /** Durable when it resolves. */
  post(message: NewMessage): Promise<RoomMessage>;
  read(options: RoomReadOptions): Promise<readonly RoomMessage[]>;
  /** Also finds archived messages. */
  get(id: string): Promise<RoomMessage | null>;
  /** Messages that retention moved to the archive. */
  readArchived(options: RoomReadOptions): Promise<readonly RoomMessage[]>;
  /**
   * Yields all messages after the id (null: all that are kept), then new ones as they are committed, until `signal`
   * aborts.
   */
  follow(after: string | null, signal: AbortSignal): AsyncIterable<RoomMessage>;
  /** Messages with all these words, the newest first, archived ones after the others. */
  search(text: string, limit: number): Promise<readonly RoomMessage[]>;
  participants(): Promise<readonly ParticipantStatus[]>;
  /** `conflict` if a participant of another kind has the name. Idempotent. */
  addParticipant(participant: Participant): Promise<void>;
  removeParticipant(name: string): Promise<void>;
  /** Only forward; an earlier position changes nothing. */
  setPosition(name: string, id: string): Promise<void>;
  setRetention(retention: Retention | null): Promise<void>;
  /** Moves the messages that retention selects to the archive. Returns how many. */
  archive(now: Date): Promise<number>;
  /**
   * Creates an inbox for a participant. It stays until `removeInbox`, across restarts. Idempotent. Returns the folder.
   */
  addInbox(participant: Participant): Promise<string>;
  /** Call it when the participant no longer writes: its files are delivered, then the folder is removed. Idempotent. */
  removeInbox(name: string): Promise<void>;
  /** Records a refused file with the reason. `sample` is at most the first 64 KiB of it. */
  refuse(refusal: {
    readonly from: string;
    readonly name: string;
    readonly reason: string;
    readonly sample: Uint8Array | null;
    /** A second refusal with the same key is ignored. */
    readonly key?: string;
  }): Promise<void>;
  /** The kept refusals, the newest first. */
  refusals(limit: number): Promise<readonly KeptRefusal[]>;
  status(): Promise<RoomStatus>;
  /**
   * Repairs the views if order.log or thread.md has the wrong length. This check costs the same in a room of any size.
   */
  check(): Promise<number>;
  /** Compares all views with the database and writes those that differ again. Returns the number of files written. */
  repair(): Promise<number>;
  close(): Promise<void>;
}

/** All rooms of a daemon. */
export interface Rooms {
  /** Creates the folder and the database if they do not exist. A room that is open already is returned unchanged. */
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
