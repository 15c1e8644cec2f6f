/** Reads one inbox, a limited number of names per turn. */
import { setImmediate as breath } from 'node:timers/promises';
import { Anchor } from '../../../lib/file/anchor.ts';
import { ulidPattern } from '../../../model/ulid.ts';
import type { Participant } from '../model/room.ts';
import type { Room } from '../room.ts';
import { stateOf, withEntry } from './inbox-entry.ts';
import { NameQueue } from './name-queue.ts';
import { readRegular } from './taken.ts';
import type { TakenEntry, TakingFolder } from './taking-folder.ts';
import { UnfinishedEntries } from './unfinished-entries.ts';

/** The file in which `carrel-room` keeps the id of the last message that was read. */
export const positionName = '.read';
const dot = 0x2e;
const namesPerTurn = 64;
const maxUnfinished = 1000;

/** The folder that a participant writes files to. */
export interface Inbox {
  readonly participant: Participant;
  readonly folder: string;
}

export class InboxReader {
  readonly #inbox: Inbox;
  readonly #taking: TakingFolder;
  readonly #room: Pick<Room, 'setPosition'>;
  readonly #folder: Anchor;
  readonly #names: NameQueue;
  readonly #unfinished: UnfinishedEntries;
  /** Encoded as latin1. */
  readonly #toRecheck = new Set<string>();
  /** Entries that were taken and are not delivered yet; a failed delivery is retried in the next turn. */
  #undelivered: TakenEntry[] = [];
  #isLast = false;

  constructor(inbox: Inbox, taking: TakingFolder, room: Pick<Room, 'setPosition'>) {
    this.#inbox = inbox;
    this.#taking = taking;
    this.#room = room;
    this.#folder = Anchor.reach(inbox.folder);
    this.#names = new NameQueue(this.#folder.fd);
    this.#unfinished = new UnfinishedEntries(this.#folder.fd);
  }

  notice(name: Buffer | null): void {
    if (name === null || isOfInterest(name)) this.#names.add(name);
    if (name !== null) this.#addHidden(name);
  }

  /** If `UnfinishedEntries` is full, the folder is read again later, which finds the name again. */
  #addHidden(name: Buffer): void {
    if (name[0] === dot && !this.#unfinished.add(name)) this.#names.add(null);
  }

  get isReady(): boolean {
    return this.#undelivered.length > 0 || this.#names.isReady || (this.#unfinished.isDue && !this.#isLast);
  }

  /** Whether the inbox has hidden or unfinished entries, which count towards its bounds. */
  get hasUnfinishedEntries(): boolean {
    return !this.#unfinished.isEmpty;
  }

  /** Whether the inbox must be read again later. */
  get needsRecheck(): boolean {
    return this.#toRecheck.size > 0 || !this.#names.isEmpty;
  }

  recheck(): void {
    for (const name of this.#toRecheck) this.#names.add(Buffer.from(name, 'latin1'));
    this.#toRecheck.clear();
  }

  /** The inbox has no writers any more, so every entry counts as finished. */
  expectNoMore(): void {
    this.#isLast = true;
    this.#names.readNow();
  }

  async turn(): Promise<void> {
    if (this.#undelivered.length === 0) {
      const all = this.#names.take(namesPerTurn);
      for (const name of all) this.#addHidden(name);
      const names = all.filter(isOfInterest);
      if (names.some((name) => name.equals(Buffer.from(positionName)))) await this.#readPosition();
      this.#undelivered = names.flatMap((name) => this.#take(name) ?? []);
      if (this.#undelivered.length > 0) await this.#taking.sync();
    }
    await this.#deliver();
    if (this.#unfinished.isDue && !this.#isLast) await this.#boundUnfinished();
  }

  async #boundUnfinished(): Promise<void> {
    for (const { name, key, reason } of this.#unfinished.check())
      await this.#taking.discard({ folderFd: this.#folder.fd, name }, this.#inbox.participant, { key, reason });
  }

  /** Delivers all entries at once, so that they share a commit, in the order in which they were taken. */
  async #deliver(): Promise<void> {
    const entries = this.#undelivered;
    const results = await Promise.allSettled(entries.map((entry) => this.#taking.deliver(entry)));
    this.#undelivered = entries.filter((_, index) => results[index]!.status === 'rejected');
    const failed = results.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
    await breath();
  }

  #take(name: Buffer): TakenEntry | null {
    if (name[0] === dot) return null;
    const entry = { folderFd: this.#folder.fd, name };
    const state = this.#isLast ? 'ready' : stateOf(entry, Date.now());
    if (state === 'ready') return this.#taking.take(entry, this.#inbox.participant);
    if (state === 'unfinished') this.#unfinished.add(name);
    if (state === 'unfinished' && this.#toRecheck.size < maxUnfinished) this.#toRecheck.add(name.toString('latin1'));
    else if (state === 'unfinished') this.#names.add(null);
    return null;
  }

  async #readPosition(): Promise<void> {
    const id = readPosition(this.#folder);
    if (id !== null) await this.#room.setPosition(this.#inbox.participant.name, id);
  }

  close(): void {
    this.#names.close();
    this.#folder.close();
  }
}

/** Names that begin with a dot are left to the writer, within bounds, except for the position file. */
function isOfInterest(name: Buffer): boolean {
  return name[0] !== dot || name.equals(Buffer.from(positionName));
}

const maxPositionBytes = 64;

/** Null: the file does not exist or does not contain an id. */
function readPosition({ fd: folderFd }: Anchor): string | null {
  const name = Buffer.from(positionName);
  const bytes = withEntry({ folderFd, name }, (fd, stat) => readRegular(fd, stat, maxPositionBytes)) ?? '';
  const id = bytes.toString('latin1').trim();
  return ulidPattern.test(id) ? id : null;
}
