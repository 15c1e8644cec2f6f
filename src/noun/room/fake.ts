/** A room in memory, for tests of code that posts to a room or follows it. Each fault in `failPosts` fails one post. */
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Fault } from '../../model/fault.ts';
import { ulidAfter } from '../../model/ulid.ts';
import { mentionsIn } from './model/mention.ts';
import type { Participant, ParticipantKind, RoomMessage } from './model/room.ts';
import type { NewMessage, Room } from './room.ts';

type Refusal = Parameters<Room['refuse']>[0];

export class FakeRoom implements Pick<Room, 'post' | 'get' | 'follow' | 'refuse' | 'participants' | 'setPosition'> {
  readonly messages: (RoomMessage & { readonly key?: string })[] = [];
  readonly senders: Participant[] = [];
  readonly files: string[] = [];
  readonly refusals: Refusal[] = [];
  readonly positions = new Map<string, string>();
  readonly kinds = new Map<string, ParticipantKind>();
  readonly #changes = new EventEmitter();
  failPosts: Fault[] = [];

  async post({ key, from, via, body, replyTo = null, attachments = [] }: NewMessage): Promise<RoomMessage> {
    const failure = this.failPosts.shift();
    if (failure) throw failure;
    const known = key === undefined ? undefined : this.messages.find((one) => one.key === key);
    if (known) return known;
    this.senders.push(from);
    const id = ulidAfter(this.messages.at(-1)?.id ?? null, Date.now());
    const at = new Date().toISOString();
    const contents = attachments.map(({ name, file }) => ({ name, text: readFileSync(file, 'utf8') }));
    this.files.push(...contents.map(({ name, text }) => `${name}: ${text}`));
    const files = contents.map(({ name, text }) => ({ name, bytes: text.length }));
    const message = { id, from: from.name, at, via, mentions: mentionsIn(body), replyTo, attachments: files, body };
    this.messages.push({ ...message, ...(key === undefined ? {} : { key }) });
    this.#changes.emit('change');
    return message;
  }

  async get(id: string): Promise<RoomMessage | null> {
    return this.messages.find((one) => one.id === id) ?? null;
  }

  async *follow(after: string | null, signal: AbortSignal): AsyncGenerator<RoomMessage> {
    for (let last = after ?? ''; !signal.aborted; ) {
      const next = this.messages.find(({ id }) => id > last);
      if (next === undefined) await once(this.#changes, 'change', { signal }).catch(() => {});
      else {
        last = next.id;
        yield next;
      }
    }
  }

  async refuse(refusal: Refusal): Promise<void> {
    if (!this.refusals.some(({ key }) => key === refusal.key)) this.refusals.push(refusal);
    this.#changes.emit('change');
  }

  async participants(): ReturnType<Room['participants']> {
    const rest = { lastPostAt: null, lastReadAt: null, position: null, unread: 0 };
    return [...this.kinds].map(([name, kind]) => ({ name, kind, ...rest }));
  }

  async setPosition(name: string, id: string): Promise<void> {
    this.positions.set(name, id);
    this.#changes.emit('change');
  }

  /** Resolves when `isSo` returns true. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await once(this.#changes, 'change');
  }

  bodies(): string[] {
    return this.messages.map(({ body }) => body);
  }
}
