/**
 * The intake of a room: turns files in its inboxes into messages.
 *
 *   recover → (add | remove | drain)* → close
 *
 * An inbox is handled in short turns: each turn reads some names, and takes, syncs and posts the finished entries
 * together. Inboxes take turns, so one with a million files does not block the others.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Room } from '../room.ts';
import { type Inbox, InboxReader } from './inbox-reader.ts';
import type { InboxWatch, WatchKind } from './inbox-watch.ts';
import type { TakenLimits } from './taken.ts';
import { TakingFolder } from './taking-folder.ts';

export interface IntakeParts {
  readonly room: Pick<Room, 'post' | 'refuse' | 'setPosition'>;
  /** `.carrel/taking` of the room. */
  readonly taking: string;
  readonly limits: TakenLimits;
  readonly watch: InboxWatch;
  readonly report: (error: unknown) => void;
}

const maxAtOnce = 8;
const retryMs = 1000;
/** After this time unfinished files are checked again: the kernel may not report when they are closed. */
const recheckMs = 250;
/** After this time hidden and open files are measured again: they may grow without an event. */
const measureMs = 5000;

interface Watched {
  readonly inbox: Inbox;
  readonly reader: InboxReader;
  kind: WatchKind;
  timer: NodeJS.Timeout | null;
  turn: Promise<void> | null;
}

export class Intake {
  readonly #parts: IntakeParts;
  readonly #taking: TakingFolder;
  readonly #inboxes = new Map<string, Watched>();
  readonly #ready = new Set<Watched>();
  #running = 0;
  readonly #closing = new AbortController();

  constructor(parts: IntakeParts) {
    this.#parts = parts;
    this.#taking = new TakingFolder(parts.room, parts.taking, parts.limits);
  }

  recover(): Promise<void> {
    return this.#taking.recover();
  }

  /** Idempotent. Resolves when it is known how the inbox is watched. */
  async add(inbox: Inbox): Promise<void> {
    if (this.#inboxes.has(inbox.folder)) return;
    const reader = new InboxReader(inbox, this.#taking, this.#parts.room);
    const watched: Watched = { inbox, reader, kind: 'polling', timer: null, turn: null };
    this.#inboxes.set(inbox.folder, watched);
    const kind = this.#parts.watch.add(inbox.folder, (changed) => {
      reader.notice(changed);
      this.#wake(watched);
    });
    this.#wake(watched);
    watched.kind = await kind;
  }

  /** Stops watching. The files in the inbox stay. */
  async remove(folder: string): Promise<void> {
    const watched = this.#inboxes.get(folder);
    if (watched === undefined) return;
    this.#inboxes.delete(folder);
    this.#parts.watch.remove(folder);
    await this.#stop(watched);
    watched.reader.close();
  }

  /** Handles all files of an inbox that has no writers any more, finished or not. False: `close` interrupted it. */
  async drain(inbox: Inbox): Promise<boolean> {
    const reader = new InboxReader(inbox, this.#taking, this.#parts.room);
    try {
      reader.expectNoMore();
      while (reader.isReady && !this.#isClosing) await this.#attempt(reader);
      return !reader.isReady;
    } finally {
      reader.close();
    }
  }

  /** `polling` if any inbox is polled. */
  get watch(): WatchKind {
    return [...this.#inboxes.values()].some(({ kind }) => kind === 'polling') ? 'polling' : 'inotify';
  }

  /** Entries that were taken and not delivered are delivered by the `recover` of the next intake. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const watched of this.#inboxes.values()) {
      this.#parts.watch.remove(watched.inbox.folder);
      await this.#stop(watched);
      watched.reader.close();
    }
    this.#inboxes.clear();
    this.#taking.close();
  }

  get #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  async #stop(watched: Watched): Promise<void> {
    this.#ready.delete(watched);
    clearTimeout(watched.timer ?? undefined);
    await watched.turn;
  }

  #wake(watched: Watched): void {
    if (this.#inboxes.get(watched.inbox.folder) !== watched) return;
    if (watched.turn === null && watched.reader.isReady) this.#ready.add(watched);
    else if (watched.turn === null) this.#plan(watched);
    this.#begin();
  }

  #begin(): void {
    for (const watched of this.#ready) {
      if (this.#running >= maxAtOnce || this.#isClosing) return;
      this.#ready.delete(watched);
      watched.turn = this.#turn(watched);
    }
  }

  async #turn(watched: Watched): Promise<void> {
    this.#running++;
    await this.#attempt(watched.reader);
    this.#running--;
    watched.turn = null;
    this.#plan(watched);
    // Yields to the event loop, so that other work runs between two turns.
    setImmediate(() => this.#wake(watched));
  }

  async #attempt(reader: InboxReader): Promise<void> {
    try {
      await reader.turn();
    } catch (error) {
      this.#parts.report(error);
      await sleep(retryMs, undefined, { signal: this.#closing.signal }).catch(() => {});
    }
  }

  #plan(watched: Watched): void {
    const { needsRecheck, hasUnfinishedEntries } = watched.reader;
    if (watched.timer !== null || !(needsRecheck || hasUnfinishedEntries)) return;
    watched.timer = setTimeout(
      () => {
        watched.timer = null;
        watched.reader.recheck();
        this.#wake(watched);
      },
      needsRecheck ? recheckMs : measureMs,
    );
    watched.timer.unref();
  }
}
