import type { RoomMessage } from '../../room/model/room.ts';

/** Rooms of the user, as tools use them. The caller is always the sender of its messages. */
export interface HubRooms {
  post(room: string, message: { body: string; replyTo: string | null; key: string | null }): Promise<RoomMessage>;
  /** The newest messages, or the first ones after an id. */
  read(room: string, after: string | null, limit: number): Promise<readonly RoomMessage[]>;
  /** The first messages after an id, or after now; none if the signal aborts first. */
  follow(room: string, after: string | null, limit: number, signal: AbortSignal): Promise<readonly RoomMessage[]>;
}
