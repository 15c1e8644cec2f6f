/** Turns posts into messages: checks, id, attachments, rows. One transaction can contain many posts. */
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { Rate } from '../../../lib/flow/rate.ts';
import { Fault } from '../../../model/fault.ts';
import { formatSize } from '../../../model/size.ts';
import { ulidAfter } from '../../../model/ulid.ts';
import type { Last, Messages, Numbered } from '../database/messages.ts';
import type { Participants } from '../database/participants.ts';
import { mentionsIn } from '../model/mention.ts';
import type { RoomLimits } from '../model/room.ts';
import type { NewMessage } from '../room.ts';
import { roomFault } from '../room-fault.ts';
import type { RoomAttachments } from './room-attachments.ts';

interface Parts {
  readonly folder: string;
  readonly limits: RoomLimits;
  readonly messages: Messages;
  readonly participants: Participants;
  readonly attachments: RoomAttachments;
  now(): Date;
}

export class Posts {
  readonly #parts: Parts;
  readonly #rate: Rate;
  /** The last committed message. */
  #last: Last;
  #next: Last;
  #added: Numbered[] = [];
  /** Whether participants were added since this was last set to false. */
  hasNewParticipants = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { messagesPerSecond: perSecond, burst } = parts.limits;
    this.#rate = new Rate({ perSecond, burst }, () => parts.now().getTime());
    this.#last = parts.messages.last();
    this.#next = this.#last;
  }

  /** The last message of the room. */
  get last(): Last {
    return this.#last;
  }

  /** Call it after a commit. Returns the messages that the transaction added. */
  committed(): readonly Numbered[] {
    const added = this.#added;
    this.#added = [];
    this.#last = this.#next;
    return added;
  }

  /** Call it after a transaction was rolled back. */
  undone(): void {
    this.#added = [];
    this.#next = this.#last;
    this.#parts.attachments.dropAfter(this.#last.id);
  }

  /** Returns the id of the message, or of the message that was posted with the same key before. */
  add(message: NewMessage): string {
    const known = message.key === undefined ? null : this.#parts.messages.idOf(message.key);
    if (known !== null) return known;
    const made = this.#add(message);
    this.#added.push(made);
    this.#next = { seq: made.seq, id: made.id };
    return made.id;
  }

  #add({ from, via, body, replyTo, attachments = [], key }: NewMessage): Numbered {
    const { messages, participants, limits } = this.#parts;
    const mentions = checkBody(body, limits);
    const files = this.#parts.attachments.check(attachments, limits);
    const now = this.#parts.now();
    this.#limitRate(from.name);
    this.hasNewParticipants = participants.add(from) || this.hasNewParticipants;
    const id = ulidAfter(this.#next.id, now.getTime());
    this.#copy(id, attachments);
    crashPoint('room.attached');
    const seq = this.#next.seq + 1;
    const made: Numbered = {
      ...{ seq, id, from: from.name, at: now.toISOString(), via, mentions },
      replyTo: replyTo && messages.get(replyTo) !== null ? replyTo : null,
      ...{ attachments: files, body },
    };
    messages.insert(made, key);
    participants.posted(made.from, made.at);
    this.hasNewParticipants = participants.mention(mentions) || this.hasNewParticipants;
    return made;
  }

  #copy(id: string, files: NonNullable<NewMessage['attachments']>): void {
    try {
      this.#parts.attachments.copy(id, files);
    } catch (error) {
      throw roomFault(this.#parts.folder, error);
    }
  }

  #limitRate(name: string): void {
    const waitMs = this.#rate.take(name);
    if (waitMs === 0) return;
    const { messagesPerSecond, burst } = this.#parts.limits;
    throw new Fault('exhausted', `${name} posts too fast: ${messagesPerSecond} messages a second after ${burst}`, {
      hint: 'Wait a moment. The limit is rooms.messagesPerSecond in config.yaml.',
      data: { retryAfterMs: waitMs },
    });
  }
}

/** Returns the mentions. */
function checkBody(body: string, limits: RoomLimits): string[] {
  const bytes = Buffer.byteLength(body);
  if (bytes > limits.bodyBytes) {
    throw new Fault('exhausted', `the message has ${formatSize(bytes)}; the limit is ${formatSize(limits.bodyBytes)}`, {
      hint: 'Attach a file instead.',
    });
  }
  if (body.trim() === '') throw new Fault('invalid', 'the message is empty');
  if (/\p{Surrogate}/u.test(body)) throw new Fault('invalid', 'the message is not UTF-8');
  const mentions = mentionsIn(body);
  if (mentions.length <= limits.mentions) return mentions;
  throw new Fault('invalid', `the message has ${mentions.length} mentions; the limit is ${limits.mentions}`);
}
