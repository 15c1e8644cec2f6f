import type { Message } from '../../model/room.ts';

/** Rooms of the user, as tools use them. Messages are from the caller, whatever the text says. */
export interface HubRooms {
  post(room: string, message: { body: string; replyTo: string | null; key: string | null }): Promise<Message>;
  /** The newest, or the first after an id. */
  read(room: string, after: string | null, limit: number): Promise<readonly Message[]>;
  /** The first messages after an id, or after now; none if there is none in time. */
  follow(room: string, after: string | null, limit: number, signal: AbortSignal): Promise<readonly Message[]>;
}
