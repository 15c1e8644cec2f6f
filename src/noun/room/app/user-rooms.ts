/** The rooms of one user. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Kernel } from '../../../kernel/kernel.ts';
import type { Row } from '../../../kernel/store/store.ts';
import { removeTree } from '../../../lib/file/file.ts';
import { asFault, Fault } from '../../../model/fault.ts';
import { type Actor, requireOwner } from '../../../model/user.ts';
import type {
  MemberView,
  MessageRequest,
  MessageView,
  RefusalView,
  RemovedRoomView,
  RoomDetailView,
  RoomRequest,
  RoomView,
} from '../api.ts';
import { inboxOf } from '../model/grant.ts';
import { checkRoomName, type Participant, type Retention, type RoomMessage, type RoomRecord } from '../model/room.ts';
import type { Room } from '../room.ts';
import type { LiveRooms } from './live-rooms.ts';
import { ownFolder } from './room-folder.ts';

export interface UserRoomsParts extends Pick<Kernel, 'store' | 'now'> {
  readonly live: Pick<LiveRooms, 'open' | 'close'>;
  readonly home: string;
  /** The folder for rooms of this user. */
  readonly folder: string;
  /** Makes a folder for temporary files. */
  readonly makeScratch: () => string;
}

const maxPerUser = 200;
const defaultLimit = 50;
const maxLimit = 1000;

export interface Reading {
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
  readonly unread?: boolean | undefined;
  readonly search?: string | undefined;
  readonly archived?: boolean | undefined;
}

export class UserRooms {
  readonly #actor: Actor;
  readonly #parts: UserRoomsParts;

  constructor(actor: Actor, parts: UserRoomsParts) {
    this.#actor = actor;
    this.#parts = parts;
  }

  async create({ name, at, keepDays, keepMessages }: RoomRequest): Promise<RoomView> {
    const { store, home, now } = this.#parts;
    const owner = this.#actor.name;
    checkRoomName(name);
    if (at !== undefined) requireOwner(this.#actor);
    if (store.find('room', owner, name) !== null) throw isTaken(name);
    if (store.count('room', owner) >= maxPerUser) {
      throw new Fault('exhausted', `there are ${maxPerUser} rooms already`, {
        hint: 'Remove one with: carrel room rm NAME',
      });
    }
    const folder = at === undefined ? this.#newFolder(name) : ownFolder(at, home);
    const taken = store.list('room').find(({ value }) => value.folder === folder);
    if (taken) {
      throw new Fault('conflict', `${folder} is the folder of the room ${taken.name} already`, {
        hint: 'Use that room, or name another folder.',
      });
    }
    const createdAt = now();
    const retention = retentionOf(keepDays, keepMessages);
    const value: RoomRecord = { name, owner, folder, isElsewhere: at !== undefined, createdAt, retention };
    await this.#parts.live.open(value);
    const event = { at: createdAt, type: 'room.created', subject: name, data: { name, user: owner } };
    store.insert({ kind: 'room', id: randomBytes(8).toString('hex'), owner, name, value }, event);
    return this.#view(value);
  }

  async list(): Promise<RoomView[]> {
    const rows = this.#parts.store.list('room', this.#actor.name);
    return Promise.all(rows.map(({ value }) => this.#view(value)));
  }

  names(): string[] {
    return this.#parts.store.list('room', this.#actor.name).map(({ name }) => name);
  }

  async show(name: string, isRepair: boolean): Promise<Omit<RoomDetailView, 'webhooks'>> {
    const record = this.find(name);
    const room = await this.#parts.live.open(record);
    const repaired = await (isRepair ? room.repair() : room.check());
    const [last = null] = await room.read({ after: null, limit: 1, newest: true });
    return { ...(await this.#view(record)), members: await membersOf(room), last, repaired };
  }

  async post(name: string, { body, replyTo, attachments = [], key }: MessageRequest): Promise<MessageView> {
    const room = await this.open(name);
    if (replyTo !== undefined && (await room.get(replyTo)) === null) {
      throw new Fault('not_found', `the room ${name} has no message ${replyTo}`, {
        hint: `To see the ids: carrel room read ${name} --peek`,
      });
    }
    const message = {
      ...{ from: this.#self, via: 'cli' as const, body, replyTo: replyTo ?? null },
      ...(key === undefined ? {} : { key: `api:${this.#actor.name}:${key}` }),
    };
    if (attachments.length === 0) return room.post(message);
    const scratch = this.#parts.makeScratch();
    try {
      const files = attachments.map(({ name: file, contentBase64 }, index) => {
        const path = join(scratch, String(index));
        writeFileSync(path, Buffer.from(contentBase64, 'base64'), { mode: 0o600 });
        return { name: file, file: path };
      });
      return await room.post({ ...message, attachments: files });
    } finally {
      await removeTree(scratch);
    }
  }

  /** By default the newest messages; with `after` or `unread` the first ones after that position. */
  async read(
    name: string,
    { after, unread, search, archived, limit: requested }: Reading,
  ): Promise<readonly MessageView[]> {
    const room = await this.open(name);
    const limit = Math.min(requested ?? defaultLimit, maxLimit);
    if (search !== undefined) return (await room.search(search, limit)).toReversed();
    if (archived) return room.readArchived({ after: after ?? null, limit });
    const start = unread ? await this.#position(room) : (after ?? null);
    return room.read({ after: start, limit, newest: !unread && after === undefined });
  }

  /** Without `after` only new messages. */
  async *follow(name: string, after: string | undefined, signal: AbortSignal): AsyncGenerator<RoomMessage> {
    const room = await this.open(name);
    const start = after ?? (await room.status()).lastId;
    yield* room.follow(start, signal);
  }

  async refused(name: string, limit = maxLimit): Promise<readonly RefusalView[]> {
    return (await this.open(name)).refusals(Math.min(limit, maxLimit));
  }

  async members(name: string): Promise<readonly MemberView[]> {
    return membersOf(await this.open(name));
  }

  async changeMembers(
    name: string,
    { add, remove }: { readonly add?: string | undefined; readonly remove?: string | undefined },
  ): Promise<readonly MemberView[]> {
    const room = await this.open(name);
    if (add !== undefined) await addOutside(room, add);
    if (remove !== undefined) await removeMember(room, remove);
    return membersOf(room);
  }

  async setPosition(name: string, id: string): Promise<{ position: string }> {
    const room = await this.open(name);
    await room.addParticipant(this.#self);
    await room.setPosition(this.#actor.name, id);
    return { position: (await this.#position(room)) ?? id };
  }

  async remove(name: string, force: boolean): Promise<RemovedRoomView> {
    const { store, live, now } = this.#parts;
    const row = this.row(name);
    const users = this.#usedBy(name);
    if (users.length > 0 && !force) throw inUse(name, users);
    const { folder, isElsewhere, owner } = row.value;
    await live.close(row.value);
    store.remove(row, { at: now(), type: 'room.removed', subject: name, data: { name, user: owner } });
    if (!isElsewhere) await removeTree(folder);
    return { name, folder, isFolderRemoved: !isElsewhere };
  }

  find(name: string): RoomRecord {
    return this.row(name).value;
  }

  get #self(): Participant {
    return { kind: 'person', name: this.#actor.name };
  }

  async open(name: string): Promise<Room> {
    return this.#parts.live.open(this.find(name));
  }

  async #position(room: Room): Promise<string | null> {
    return (await room.participants()).find(({ name }) => name === this.#actor.name)?.position ?? null;
  }

  /** The sandboxes that have the room. */
  #usedBy(room: string): string[] {
    const all = this.#parts.store.list('sandbox', this.#actor.name);
    return all.filter(({ value }) => value.spec.rooms?.some(({ name }) => name === room)).map(({ name }) => name);
  }

  #newFolder(name: string): string {
    const folder = join(this.#parts.folder, name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  row(name: string): Row<'room'> {
    const { store } = this.#parts;
    const row = store.find('room', this.#actor.name, checkRoomName(name));
    if (row !== null) return row;
    const names = store.list('room', this.#actor.name).map((one) => one.name);
    const hint = names.length === 0 ? `Create it with: carrel room create ${name}` : `There are: ${names.join(', ')}`;
    throw new Fault('not_found', `no room ${name}`, { hint });
  }

  async #view(record: RoomRecord): Promise<RoomView> {
    const { name, owner, folder, createdAt, retention } = record;
    const known = { name, user: owner, folder, createdAt, retention };
    try {
      const room = await this.#parts.live.open(record);
      const { messages, archived, refused, watch, lastId } = await room.status();
      const self = (await room.participants()).find((one) => one.name === this.#actor.name);
      return { ...known, messages, archived, refused, watch, lastId, unread: self?.unread ?? messages, trouble: null };
    } catch (error) {
      const nothing = { messages: null, archived: null, refused: null, unread: null, watch: null, lastId: null };
      return { ...known, ...nothing, trouble: asFault(error).message };
    }
  }
}

async function membersOf(room: Room): Promise<MemberView[]> {
  const inbox = (name: string) => inboxOf(room.folder, name);
  const members = await room.participants();
  return members.map((one) => ({ ...one, inbox: existsSync(inbox(one.name)) ? inbox(one.name) : null }));
}

async function addOutside(room: Room, name: string): Promise<void> {
  await room.addParticipant({ kind: 'outside', name });
  await room.addInbox({ kind: 'outside', name });
}

/** The inbox of a sandbox stays as long as the sandbox has the room. */
async function removeMember(room: Room, name: string): Promise<void> {
  const found = (await room.participants()).find((one) => one.name === name);
  if (found?.kind === 'outside') await room.removeInbox(name);
  await room.removeParticipant(name);
}

function retentionOf(days: number | undefined, messages: number | undefined): Retention | null {
  if (days === undefined && messages === undefined) return null;
  return { ...(days === undefined ? {} : { days }), ...(messages === undefined ? {} : { messages }) };
}

function isTaken(name: string): Fault {
  return new Fault('conflict', `a room ${name} exists already`, {
    hint: `Use it, or choose another name: carrel room ls`,
  });
}

function inUse(name: string, users: readonly string[]): Fault {
  return new Fault('conflict', `the room ${name} is in use by ${users.join(', ')}`, {
    hint: `Remove these sandboxes first, or: carrel room rm --force ${name}`,
  });
}
