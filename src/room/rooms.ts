/** All rooms of a daemon, on the daemon's side of the thread. */
import { Fault } from '../model/fault.ts';
import type { Message, Participant, Retention } from '../model/room.ts';
import type { OpenedRoom } from './opened-room.ts';
import { Recent } from './recent.ts';
import type { Refusal } from './refused.ts';
import type { NewMessage, ReadOptions, Room, RoomAbout, Rooms } from './room.ts';
import {
  type FromThread,
  type Link,
  type Receiver,
  type RoomCall,
  startRoomThread,
  type ToThread,
} from './room-link.ts';

type Start = (receiver: Receiver) => Link;

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A distributive `Omit`: each member of the union without its number. */
type Unnumbered<T> = T extends unknown ? Omit<T, 'call'> : never;

/** `report` is called with faults of the intake of an inbox; the intake is retried. */
export function openRooms(start: Start = startRoomThread, report: Report = () => {}): Rooms {
  return new ThreadRooms(start, report);
}

type Report = (folder: string, fault: Fault) => void;

class ThreadRooms implements Rooms {
  readonly #start: Start;
  readonly #report: Report;
  readonly #open = new Map<string, Promise<ThreadRoom>>();
  readonly #recents = new Map<string, Recent>();
  readonly #pending = new Map<number, Pending>();
  #link: Link | null = null;
  #calls = 0;

  constructor(start: Start, report: Report) {
    this.#report = report;
    this.#start = start;
  }

  async open(folder: string, about: RoomAbout): Promise<Room> {
    const known = this.#open.get(folder);
    if (known !== undefined) return known;
    const opening = this.#openNow(folder, about);
    this.#open.set(folder, opening);
    opening.catch(() => this.#open.delete(folder));
    return opening;
  }

  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#open.values());
    for (const one of opened) if (one.status === 'fulfilled') await one.value.close();
    await this.#link?.end();
    this.#link = null;
  }

  async #openNow(folder: string, about: RoomAbout): Promise<ThreadRoom> {
    const lastId = (await this.#call({ folder, open: about })) as string | null;
    const recent = new Recent(lastId);
    this.#recents.set(folder, recent);
    const call: Ask = (method, ...args) =>
      this.#call({ folder, method, args }) as ReturnType<OpenedRoom[typeof method]>;
    const forget = () => {
      recent.close();
      this.#open.delete(folder);
      this.#recents.delete(folder);
    };
    return new ThreadRoom(folder, recent, call, forget);
  }

  #call(message: Unnumbered<ToThread>): Promise<unknown> {
    this.#link ??= this.#start({
      received: (answer) => this.#received(answer),
      broken: (error) => this.#broken(error),
    });
    const call = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#pending.set(call, { resolve, reject });
      this.#link!.send({ ...message, call } as ToThread);
    });
  }

  #received(answer: FromThread): void {
    if ('committed' in answer) {
      this.#recents.get(answer.folder)?.push(answer.committed);
      return;
    }
    if ('trouble' in answer) {
      this.#report(answer.folder, Fault.from(answer.trouble));
      return;
    }
    const pending = this.#pending.get(answer.call);
    this.#pending.delete(answer.call);
    if ('fault' in answer) pending?.reject(Fault.from(answer.fault));
    else pending?.resolve(answer.value);
  }

  /** Rooms are opened again when they are next needed. */
  #broken(cause: unknown): void {
    this.#link = null;
    for (const recent of this.#recents.values()) recent.close();
    this.#recents.clear();
    this.#open.clear();
    for (const { reject } of this.#pending.values()) {
      reject(new Fault('unavailable', 'the thread of the rooms ended unexpectedly', { cause }));
    }
    this.#pending.clear();
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
