/** All rooms of a daemon, on the daemon's side of the thread. */
import { Openings } from '../lib/openings.ts';
import { ThreadCalls } from '../lib/thread-calls.ts';
import { Fault } from '../model/fault.ts';
import type { Message, Participant, Retention } from '../model/room.ts';
import type { OpenedRoom } from './opened-room.ts';
import { Recent } from './recent.ts';
import type { Refusal } from './refused.ts';
import type { NewMessage, ReadOptions, Room, RoomAbout, Rooms } from './room.ts';
import {
  type Link,
  type Pushed,
  type Receiver,
  type RoomCall,
  startRoomThread,
  type ToThread,
  threadName,
} from './room-link.ts';

type Start = (receiver: Receiver) => Link;

/** `report` is called with faults of the intake of an inbox; the intake is retried. */
export function openRooms(start: Start = startRoomThread, report: Report = () => {}): Rooms {
  return new ThreadRooms(start, report);
}

type Report = (folder: string, fault: Fault) => void;

class ThreadRooms implements Rooms {
  readonly #report: Report;
  readonly #open = new Openings<ThreadRoom>();
  readonly #recents = new Map<string, Recent>();
  readonly #calls: ThreadCalls<ToThread, Pushed>;

  constructor(start: Start, report: Report) {
    this.#report = report;
    this.#calls = new ThreadCalls(start, threadName, {
      broken: () => this.#forgetAll(),
      pushed: (message) => this.#pushed(message),
    });
  }

  open(folder: string, about: RoomAbout): Promise<Room> {
    return this.#open.get(folder, () => this.#openNow(folder, about));
  }

  async close(): Promise<void> {
    await this.#open.closeAll();
    await this.#calls.end();
  }

  async #openNow(folder: string, about: RoomAbout): Promise<ThreadRoom> {
    const lastId = await this.#calls.call<string | null>({ folder, open: about });
    const recent = new Recent(lastId);
    this.#recents.set(folder, recent);
    const call: Ask = (method, ...args) =>
      this.#calls.call({ folder, method, args }) as ReturnType<OpenedRoom[typeof method]>;
    const forget = () => {
      recent.close();
      this.#open.forget(folder);
      this.#recents.delete(folder);
    };
    return new ThreadRoom(folder, recent, call, forget);
  }

  #pushed(message: Pushed): void {
    if ('committed' in message) this.#recents.get(message.folder)?.push(message.committed);
    else this.#report(message.folder, Fault.from(message.trouble));
  }

  /** Rooms are opened again when they are next needed. */
  #forgetAll(): void {
    for (const recent of this.#recents.values()) recent.close();
    this.#recents.clear();
    this.#open.forgetAll();
  }
}

const pageSize = 500;

type Ask = <K extends RoomCall>(method: K, ...args: Parameters<OpenedRoom[K]>) => ReturnType<OpenedRoom[K]>;

class ThreadRoom implements Room {
  readonly folder: string;
  readonly #recent: Recent;
  readonly #ask: Ask;
  readonly #forget: () => void;

  constructor(folder: string, recent: Recent, ask: Ask, forget: () => void) {
    this.folder = folder;
    this.#recent = recent;
    this.#ask = ask;
    this.#forget = forget;
  }

  post = (message: NewMessage) => this.#ask('post', message);
  read = (options: ReadOptions) => this.#ask('read', options);
  readArchived = (options: ReadOptions) => this.#ask('readArchived', options);
  get = (id: string) => this.#ask('get', id);
  search = (text: string, limit: number) => this.#ask('search', text, limit);
  participants = () => this.#ask('participants');
  addParticipant = (participant: Participant) => this.#ask('addParticipant', participant);
  removeParticipant = (name: string) => this.#ask('removeParticipant', name);
  setPosition = (name: string, id: string) => this.#ask('setPosition', name, id);
  setRetention = (retention: Retention | null) => this.#ask('setRetention', retention);
  archive = (now: Date) => this.#ask('archive', now);
  addInbox = (participant: Participant) => this.#ask('addInbox', participant);
  removeInbox = (name: string) => this.#ask('removeInbox', name);
  refuse = (refusal: Refusal) => this.#ask('refuse', refusal);
  refusals = (limit: number) => this.#ask('refusals', limit);
  status = () => this.#ask('status');
  check = () => this.#ask('check');
  repair = () => this.#ask('repair');

  async *follow(after: string | null, signal: AbortSignal): AsyncGenerator<Message> {
    for (let last = after; !signal.aborted && !this.#recent.isClosed; ) {
      const { commits } = this.#recent;
      const page = this.#recent.after(last) ?? (await this.read({ after: last, limit: pageSize }));
      for (const message of page) {
        if (signal.aborted) return;
        last = message.id;
        yield message;
      }
      // An empty page from the thread may already be stale.
      if (page.length === 0 && commits === this.#recent.commits) await this.#recent.changed(signal);
    }
  }

  async close(): Promise<void> {
    this.#forget();
    await this.#ask('close');
  }
}
