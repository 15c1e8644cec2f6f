/** All rooms of a daemon, on the daemon's side of the thread. */
import { Openings } from '../../lib/file/openings.ts';
import { programThread, ThreadCalls } from '../../lib/wire/thread-calls.ts';
import type { StartThread } from '../../lib/wire/thread-link.ts';
import { Fault, type FaultBody } from '../../model/fault.ts';
import type { RoomMessage } from './model/room.ts';
import { Recent } from './recent.ts';
import type { Room, RoomAbout, Rooms } from './room.ts';
import { unlockRoom } from './room-lock.ts';

const pageSize = 500;

const roomCalls = [
  ...(['post', 'read', 'readArchived', 'get', 'search', 'refuse', 'refusals'] as const),
  ...(['participants', 'addParticipant', 'removeParticipant', 'setPosition', 'addInbox', 'removeInbox'] as const),
  ...(['setRetention', 'archive', 'status', 'check', 'repair'] as const),
];

/** What a room sends by itself. */
export type RoomPush =
  /** Sent before the answers to the posts. */
  | { readonly committed: readonly RoomMessage[] }
  /** Files of an inbox cannot be taken now. */
  | { readonly trouble: FaultBody };

/** `report` is called with faults of the intake of an inbox; the intake is retried. */
export function openRooms(start = programThread('room-thread'), report: Report = () => {}): Rooms {
  return new ThreadRooms(start, report);
}

type Report = (folder: string, fault: Fault) => void;

class ThreadRooms implements Rooms {
  readonly #report: Report;
  readonly #open = new Openings<Room>();
  readonly #recents = new Map<string, Recent>();
  readonly #calls: ThreadCalls;

  constructor(start: StartThread, report: Report) {
    this.#report = report;
    this.#calls = new ThreadCalls({
      ...{ name: 'the thread of the rooms', start },
      broken: () => this.#forgetAll(),
      pushed: (folder, message) => this.#pushed(folder, message as RoomPush),
    });
  }

  open(folder: string, about: RoomAbout): Promise<Room> {
    return this.#open.get(folder, () => this.#openNow(folder, about));
  }

  async close(): Promise<void> {
    await this.#open.closeAll();
    await this.#calls.end();
  }

  async #openNow(folder: string, about: RoomAbout): Promise<Room> {
    const lastId = await this.#calls.call<string | null>(folder, 'open', about);
    const recent = new Recent(lastId);
    this.#recents.set(folder, recent);
    const calls = this.#calls.remote<Room, (typeof roomCalls)[number]>(folder, roomCalls);
    return {
      ...{ ...calls, folder },
      follow: (after, signal) => follow(recent, calls.read, after, signal),
      close: async () => {
        recent.close();
        // The thread ended meanwhile, and the room may be open again.
        if (this.#recents.get(folder) !== recent) return;
        this.#open.forget(folder);
        this.#recents.delete(folder);
        await this.#calls.call(folder, 'close');
      },
    };
  }

  #pushed(folder: string, message: RoomPush): void {
    if ('committed' in message) this.#recents.get(folder)?.push(message.committed);
    else this.#report(folder, Fault.from(message.trouble));
  }

  /** Rooms are opened again when they are next needed. */
  #forgetAll(): void {
    for (const [folder, recent] of this.#recents) {
      recent.close();
      unlockRoom(folder);
    }
    this.#recents.clear();
    this.#open.forgetAll();
  }
}

/** The messages after an id, the new ones as they are committed. */
async function* follow(
  recent: Recent,
  read: Room['read'],
  after: string | null,
  signal: AbortSignal,
): AsyncGenerator<RoomMessage> {
  for (let last = after; !signal.aborted && !recent.isClosed; ) {
    const { commits } = recent;
    const page = recent.after(last) ?? (await read({ after: last, limit: pageSize }));
    for (const message of page) {
      if (signal.aborted) return;
      last = message.id;
      yield message;
    }
    // An empty page from the thread may already be stale.
    if (page.length === 0 && commits === recent.commits) await recent.changed(signal);
  }
}
