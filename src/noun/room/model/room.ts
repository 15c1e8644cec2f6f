/** Rooms: folders of messages. The format and its rules are in docs/formats/room.md. */
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';

export const roomNamePattern = /^[a-z0-9][a-z0-9-]{0,63}$/;
export const roomNameRule = 'A room name has 1 to 64 of a-z, 0-9 and "-", and starts with a letter or digit.';
export const messageIdRule = 'A message id has 26 letters and digits, such as 01JD8Q4Z7W3V5T1N9R2B6C8D0E.';

export function checkRoomName(name: string): string {
  if (roomNamePattern.test(name)) return name;
  throw new Fault('invalid', `${printable(name)} is not a room name`, {
    hint: roomNameRule,
  });
}

export const participantNamePattern = /^[A-Za-z0-9_+][A-Za-z0-9._:+-]{0,63}(?<![.:-])$/;

export function checkParticipantName(name: string): string {
  if (participantNamePattern.test(name) && name !== 'all') return name;
  throw new Fault('invalid', `${printable(name)} is not a name for a participant`, {
    hint: 'Use 1 to 64 letters, digits and "._:+-", not ending with ".", ":" or "-". "all" means all participants.',
  });
}

/** The limits of a room: R15 in docs/formats/room.md. */
export interface RoomLimits {
  readonly bodyBytes: number;
  readonly attachments: number;
  /** All attachments of one message together. */
  readonly attachmentBytes: number;
  readonly mentions: number;
  readonly participants: number;
  /** The rate of one participant. */
  readonly messagesPerSecond: number;
  /** Messages that may come at once before that rate applies. */
  readonly burst: number;
}

export const defaultRoomLimits: RoomLimits = {
  bodyBytes: 256 * 1024,
  attachments: 16,
  attachmentBytes: 8 * 1024 ** 2,
  mentions: 32,
  participants: 1000,
  messagesPerSecond: 100,
  burst: 2000,
};

export type ParticipantKind = 'person' | 'sandbox' | 'outside' | 'service';

export interface Participant {
  readonly kind: ParticipantKind;
  readonly name: string;
}

/** How a message reached the room. */
export type MessageVia = 'cli' | 'inbox' | 'hub' | 'webhook' | 'watch';

export interface AttachedFile {
  readonly name: string;
  readonly bytes: number;
}

export interface RoomMessage {
  /** ULID. Greater than that of every earlier message of the room. */
  readonly id: string;
  readonly from: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly via: MessageVia;
  readonly mentions: readonly string[];
  readonly replyTo: string | null;
  readonly attachments: readonly AttachedFile[];
  readonly body: string;
}

/** At least one of the two fields is present. */
export interface Retention {
  readonly days?: number;
  readonly messages?: number;
}

/** The row of a room. */
export interface RoomRecord {
  readonly name: string;
  readonly owner: string;
  readonly folder: string;
  /** The folder is the user's own: it stays when the room is removed. */
  readonly isElsewhere: boolean;
  readonly createdAt: string;
  readonly retention: Retention | null;
}
