/** Answers calls to the rooms that are open here. */
import { Hosted } from '../../lib/wire/hosted.ts';
import { answerCall } from '../../lib/wire/thread-calls.ts';
import { asFault, Fault } from '../../model/fault.ts';
import { InboxWatch } from './inbox/inbox-watch.ts';
import { OpenedRoom } from './opened-room.ts';
import { roomFault } from './room-fault.ts';
import type { FromRoomThread, RoomLink, RoomReceiver, ToRoomThread } from './room-link.ts';

export class RoomHost {
  readonly #rooms = new Hosted<OpenedRoom>((folder) => new Fault('not_found', `the room ${folder} is not open`));
  readonly #send: (message: FromRoomThread) => void;
  readonly #now: () => Date;
  readonly #watch = new InboxWatch();

  constructor(send: (message: FromRoomThread) => void, now = () => new Date()) {
    this.#send = send;
    this.#now = now;
  }

  receive(message: ToRoomThread): void {
    // Calls start without waiting, so that posts keep the order in which they arrive.
    answerCall(message.call, this.#do(message), this.#send);
  }

  async closeAll(): Promise<void> {
    await this.#rooms.closeAll();
    this.#watch.close();
  }

  async #do(message: ToRoomThread): Promise<unknown> {
    const { folder } = message;
    try {
      if ('open' in message) return this.#rooms.get(folder, () => this.#open(folder, message.open)).lastId;
      return await this.#rooms.call(folder, message);
    } catch (error) {
      throw roomFault(folder, error);
    }
  }

  #open(folder: string, about: ConstructorParameters<typeof OpenedRoom>[1]): OpenedRoom {
    const committed = (messages: Extract<FromRoomThread, { committed: unknown }>['committed']) => {
      if (messages.length > 0) this.#send({ folder, committed: messages });
    };
    const report = (error: unknown) => this.#send({ folder, trouble: asFault(error).toJSON() });
    return new OpenedRoom(folder, about, { now: this.#now, committed, report, watch: this.#watch });
  }
}

/** Runs the rooms without a thread, for tests. */
export function startRoomsHere(receiver: RoomReceiver, now?: () => Date): RoomLink {
  const host = new RoomHost((message) => receiver.received(message), now);
  return { send: (message) => host.receive(message), end: () => host.closeAll() };
}
