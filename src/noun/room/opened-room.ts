/**
 * A room on the thread's side: database, views and limits. Posts that arrive while others are written to disk share the
 * next transaction.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, Transaction } from 'better-sqlite3';
import { CommitQueue, type Transactions } from '../../lib/data/commit-queue.ts';
import { translated } from '../../lib/data/database-fault.ts';
import { crashPoint } from '../../lib/flow/crash-point.ts';
import { type BeforeMove, RoomArchive, wordMatcher } from './archive/archive.ts';
import { expired } from './archive/retention.ts';
import { Meta, openDatabase } from './database/database.ts';
import { Messages, type Numbered, withoutSeq } from './database/messages.ts';
import { Participants } from './database/participants.ts';
import { type RefusedFile, RefusedFiles } from './database/refused-files.ts';
import { Inboxes } from './inbox/inbox.ts';
import type { InboxWatch } from './inbox/inbox-watch.ts';
import type { Participant, Retention, RoomMessage } from './model/room.ts';
import { Posts } from './post/post.ts';
import { RoomAttachments } from './post/room-attachments.ts';
import type {
  KeptRefusal,
  NewMessage,
  ParticipantStatus,
  Room,
  RoomAbout,
  RoomReadOptions,
  RoomStatus,
} from './room.ts';
import { roomFault } from './room-fault.ts';
import { lockRoom } from './room-lock.ts';
import { roomYaml } from './view/room-yaml.ts';
import { noViews, RoomViews, replaceFile, type ViewState } from './view/view.ts';

const folders = ['inbox', 'processed', 'attachments', 'dead', 'archive', '.carrel', '.carrel/taking', '.carrel/inbox'];
const maxPage = 1000;
/** The time until the next attempt if a view cannot be written, for example on a full disk. */
const retryMs = 1000;
/** How long the key of an archived message is kept. A post that is retried after a crash comes sooner. */
const keyMs = 7 * 24 * 3600 * 1000;

export interface RoomDependencies {
  now(): Date;
  /** Called after each commit. */
  committed(messages: readonly RoomMessage[]): void;
  /** Reports changes in inboxes. */
  readonly watch: InboxWatch;
  /** Called with the error if files of an inbox cannot be taken now. */
  report(error: unknown): void;
}

export class OpenedRoom implements Omit<Room, 'follow'> {
  readonly folder: string;
  readonly #about: RoomAbout;
  readonly #dependencies: RoomDependencies;
  readonly #unlock: () => void;
  readonly #db: Database;
  readonly #meta: Meta;
  readonly #messages: Messages;
  readonly #participants: Participants;
  readonly #posts: Posts;
  readonly #archive: RoomArchive;
  readonly #refused: RefusedFiles;
  readonly #views: RoomViews;
  readonly #atomically: Transaction<(work: () => unknown) => unknown>;
  readonly #queue: CommitQueue;
  readonly #inboxes: Inboxes;
  #writing: NodeJS.Timeout | null = null;
  #maintenance: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** Creates the missing folders and files of the room, and finishes work that a crash interrupted. */
  constructor(folder: string, about: RoomAbout, dependencies: RoomDependencies) {
    this.folder = folder;
    this.#about = about;
    this.#dependencies = dependencies;
    for (const name of folders) mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    this.#unlock = lockRoom(folder);
    try {
      this.#db = openDatabase(folder);
    } catch (error) {
      this.#unlock();
      throw error;
    }
    this.#atomically = this.#db.transaction((work) => work());
    this.#meta = new Meta(this.#db);
    const messages = new Messages(this.#db, this.#meta);
    const participants = new Participants(this.#db, about.limits.participants);
    const attachments = new RoomAttachments(folder);
    const now = () => dependencies.now();
    this.#posts = new Posts({ folder, limits: about.limits, messages, participants, attachments, now });
    this.#messages = messages;
    this.#participants = participants;
    this.#archive = new RoomArchive(folder);
    this.#refused = new RefusedFiles(folder, this.#db);
    this.#queue = new CommitQueue(this.#transactions());
    attachments.dropAfter(this.lastId);
    const state = this.#meta.get<ViewState>('views') ?? noViews;
    this.#views = new RoomViews(folder, messages, state);
    this.#recover(state);
    const { watch, report } = dependencies;
    const owner = { kind: 'person', name: about.createdBy } as const;
    this.#inboxes = new Inboxes({ folder, owner, room: this, limits: about.limits, watch, report });
  }

  get lastId(): string | null {
    return this.#posts.last.id;
  }

  async post(message: NewMessage): Promise<RoomMessage> {
    const id = await this.#queue.run(() => this.#posts.add(message));
    return (await this.get(id))!;
  }

  async read({ after, limit, newest = false }: RoomReadOptions): Promise<readonly RoomMessage[]> {
    const count = Math.min(limit, maxPage);
    return this.#call(() =>
      (newest ? this.#messages.newest(after, count) : this.#messages.after(after, count)).map(withoutSeq),
    );
  }

  async readArchived({ after, limit }: RoomReadOptions): Promise<readonly RoomMessage[]> {
    const found: RoomMessage[] = [];
    for await (const message of this.#archive.after(after)) {
      if (found.push(message) >= Math.min(limit, maxPage)) break;
    }
    return found;
  }

  async get(id: string): Promise<RoomMessage | null> {
    const kept = this.#call(() => this.#messages.get(id));
    return kept === null ? this.#archive.get(id) : withoutSeq(kept);
  }

  async search(text: string, limit: number): Promise<readonly RoomMessage[]> {
    const wanted = Math.min(limit, maxPage);
    const kept = this.#call(() => this.#messages.search(text, wanted).map(withoutSeq));
    if (kept.length >= wanted) return kept;
    return [...kept, ...(await this.#archive.search(wordMatcher(text), wanted - kept.length))];
  }

  async participants(): Promise<readonly ParticipantStatus[]> {
    return this.#call(() => this.#participants.list(this.#posts.last.seq));
  }

  async addParticipant(participant: Participant): Promise<void> {
    if (await this.#queue.run(() => this.#participants.add(participant))) this.#describe();
  }

  async removeParticipant(name: string): Promise<void> {
    await this.#queue.run(() => this.#participants.remove(name));
    this.#describe();
  }

  async setPosition(name: string, id: string): Promise<void> {
    const at = this.#dependencies.now().toISOString();
    await this.#queue.run(() => {
      this.#participants.setPosition(name, at, { id, seq: this.#messages.seqUpTo(id) });
    });
  }

  async setRetention(retention: Retention | null): Promise<void> {
    await this.#queue.run(() => this.#meta.set('retention', retention));
    this.#describe();
  }

  addInbox(participant: Participant): Promise<string> {
    return this.#inboxes.add(participant);
  }

  removeInbox(name: string): Promise<void> {
    return this.#inboxes.remove(name);
  }

  async refuse(refusal: RefusedFile): Promise<void> {
    await this.#queue.run(() => this.#refused.add(refusal, this.#dependencies.now().toISOString()));
  }

  async refusals(limit: number): Promise<readonly KeptRefusal[]> {
    return this.#call(() => this.#refused.list(limit));
  }

  async status(): Promise<RoomStatus> {
    return this.#call(() => {
      const { seq, id } = this.#posts.last;
      const messages = seq - this.#messages.firstSeq() + 1;
      const { watch } = this.#inboxes;
      return { messages, archived: seq - messages, lastId: id, refused: this.#refused.count, watch };
    });
  }

  /** Never runs at the same time as a repair. */
  archive(now: Date): Promise<number> {
    return this.#maintain(async () => {
      let moved = 0;
      for (let batch = this.#moveOldest(now); batch.length > 0; batch = this.#moveOldest(now)) {
        moved += batch.length;
        this.#views.removeFiles(batch);
      }
      if (moved > 0) await this.#views.rewrite();
      return moved;
    });
  }

  async check(): Promise<number> {
    if (!(await this.#views.hasLengths())) return this.repair();
    return this.#describe() ? 1 : 0;
  }

  repair(): Promise<number> {
    return this.#maintain(async () => (this.#describe() ? 1 : 0) + (await this.#views.repair()));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    await this.#inboxes.close();
    this.#queue.flush();
    await this.#maintenance;
    this.#isClosed = true;
    if (this.#writing !== null) clearTimeout(this.#writing);
    this.#transact(() => this.#meta.set('views', this.#views.state));
    this.#db.close();
    this.#unlock();
  }

  #recover(state: ViewState): void {
    const move = this.#meta.get<BeforeMove>('archiving');
    if (move !== null) this.#archive.takeBack(move);
    const { retention } = this.#about;
    if (JSON.stringify(this.#meta.get('retention')) !== JSON.stringify(retention)) {
      this.#transact(() => this.#meta.set('retention', retention));
    }
    this.#describe();
    const isWhole = this.#views.resume(state) && this.#meta.get('viewsDirty') !== true;
    if (isWhole) this.#writeViews();
    else void this.repair().catch(() => this.#writeLater(retryMs));
  }

  #transactions(): Transactions {
    return {
      transact: (work) =>
        this.#transact(() => {
          this.#meta.set('views', this.#views.state);
          return work();
        }),
      committed: () => this.#committed(),
      answered: () => this.#publish(),
      undone: () => this.#posts.undone(),
    };
  }

  #committed(): void {
    crashPoint('room.committed');
    this.#dependencies.committed(this.#posts.committed().map(withoutSeq));
  }

  #publish(): void {
    this.#writeViews();
    if (this.#posts.hasNewParticipants) this.#describe();
  }

  /**
   * First records the length of the archive file, then appends to it, then removes the messages from the database.
   * After a crash the file is cut to the recorded length.
   */
  #moveOldest(now: Date): readonly Numbered[] {
    const retention = this.#meta.get<Retention>('retention');
    const old = retention === null ? [] : expired(this.#messages, retention, now, maxPage);
    if (old.length === 0) return [];
    const file = this.#archive.fileFor(old[0]!.id);
    const batch = old.filter(({ id }) => this.#archive.fileFor(id) === file);
    const move = this.#archive.before(file);
    this.#transact(() => this.#meta.set('archiving', move));
    crashPoint('room.archiving');
    this.#archive.append(move, batch.map(withoutSeq));
    crashPoint('room.archived');
    this.#transact(() => {
      this.#messages.remove(batch, new Date(now.getTime() - keyMs).toISOString());
      this.#meta.set('archiving', null);
    });
    crashPoint('room.archive-removed');
    return batch;
  }

  /** Runs long work on views, one at a time. After a crash during it, the next start compares all views. */
  #maintain<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#maintenance.then(async () => {
      this.#transact(() => this.#meta.set('viewsDirty', true));
      const result = await work();
      this.#transact(() => {
        this.#meta.set('views', this.#views.state);
        this.#meta.set('viewsDirty', false);
      });
      return result;
    });
    this.#maintenance = next.catch(() => {});
    return next;
  }

  /** The messages are committed already, so views that cannot be written now are written later. */
  #writeViews(): void {
    if (this.#writing !== null || this.#isClosed) return;
    try {
      if (!this.#views.advance()) this.#writeLater(0);
    } catch {
      this.#writeLater(retryMs);
    }
  }

  #writeLater(ms: number): void {
    this.#writing = setTimeout(() => {
      this.#writing = null;
      this.#writeViews();
    }, ms).unref();
  }

  /** Whether room.yaml had to be written. */
  #describe(): boolean {
    this.#posts.hasNewParticipants = false;
    const retention = this.#meta.get<Retention>('retention');
    try {
      return replaceFile(this.folder, 'room.yaml', roomYaml(this.#about, this.#participants.names(), retention));
    } catch {
      // The next change or repair writes it, ignoring.
      return false;
    }
  }

  #transact<T>(work: () => T): T {
    return this.#call(() => this.#atomically.immediate(work) as T);
  }

  #call<T>(work: () => T): T {
    return translated(work, (error) => roomFault(this.folder, error));
  }
}
