/** Rooms: folders of messages. The format and its rules are in docs/formats/room.md. */

export const roomNamePattern = /^[a-z0-9][a-z0-9-]{0,63}$/;

export type ParticipantKind = 'person' | 'sandbox' | 'outside' | 'service';

export interface Participant {
  readonly kind: ParticipantKind;
  readonly name: string;
}

/** How a message reached the room. */
export type Via = 'cli' | 'inbox' | 'hub' | 'webhook' | 'watch';

export interface Attachment {
  readonly name: string;
  readonly bytes: number;
}

export interface Message {
  /** ULID. Greater than that of every earlier message of the room. */
  readonly id: string;
  readonly from: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly via: Via;
  readonly mentions: readonly string[];
  readonly replyTo: string | null;
  readonly attachments: readonly Attachment[];
  readonly body: string;
}

/** At least one of the two. */
export interface Retention {
  readonly days?: number;
  readonly messages?: number;
}

/** The row of a room. */
export interface RoomRecord {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly folder: string;
  readonly createdAt: string;
  readonly retention: Retention | null;
}
