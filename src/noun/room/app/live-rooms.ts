/**
 * The rooms of all users that this daemon has open. All are opened after the start, because files may lie in their
 * inboxes; a room that cannot be opened then is opened when it is used.
 */

import type { Store } from '../../../kernel/store/store.ts';
import { asFault, type Fault } from '../../../model/fault.ts';
import type { RoomLimits, RoomRecord } from '../model/room.ts';
import type { Room, Rooms } from '../room.ts';

const archiveMs = 600_000;

export interface LiveRoomsParts {
  readonly store: Pick<Store, 'list'>;
  readonly rooms: Rooms;
  readonly limits: () => RoomLimits;
  readonly report: (id: string, fault: Fault) => void;
}

export class LiveRooms {
  readonly #parts: LiveRoomsParts;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: LiveRoomsParts) {
    this.#parts = parts;
  }

  open({ name, owner, folder, createdAt, retention }: RoomRecord): Promise<Room> {
    const limits = this.#parts.limits();
    return this.#parts.rooms.open(folder, { name, createdBy: owner, createdAt, retention, limits });
  }

  /** Called before the folder is removed. */
  async close(record: RoomRecord): Promise<void> {
    const room = await this.open(record).catch(() => null);
    await room?.close();
  }

  start(): void {
    void this.#archive();
    this.#timer = setInterval(() => void this.#archive(), archiveMs);
    this.#timer.unref();
  }

  async dispose(): Promise<void> {
    clearInterval(this.#timer ?? undefined);
    await this.#parts.rooms.close();
  }

  /** Archives the rooms one after the other: none of them is urgent. */
  async #archive(): Promise<void> {
    for (const { id, value } of this.#parts.store.list('room')) {
      try {
        const room = await this.open(value);
        if (value.retention !== null) await room.archive(new Date());
      } catch (error) {
        this.#parts.report(id, asFault(error));
      }
    }
  }
}
