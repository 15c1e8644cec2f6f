/** The watchers of one user's rooms. */
import { randomBytes } from 'node:crypto';
import type { WatchRequest, WatchView } from '../../api/room.ts';
import { Fault } from '../../model/fault.ts';
import { checkParticipantName, type RoomRecord } from '../../model/room.ts';
import { type RoomWatch, type WatchAction, wakeCommands } from '../../model/room-watch.ts';
import { type Actor, requireOwner } from '../../model/user.ts';
import type { Room } from '../../room/room.ts';
import type { Row, Store } from '../../store/store.ts';
import type { Watchers } from './watchers.ts';

export interface UserWatchesParts {
  readonly store: Store;
  readonly watchers: Pick<Watchers, 'watch' | 'unwatch'>;
  readonly openRoom: (record: RoomRecord) => Promise<Room>;
  /** `not_found` where there is none. */
  readonly requireSandbox: (name: string) => Promise<void>;
  readonly requireSecret: (name: string) => void;
  readonly now: () => string;
}

const maxPerRoom = 50;

export class UserWatches {
  readonly #actor: Actor;
  readonly #parts: UserWatchesParts;

  constructor(actor: Actor, parts: UserWatchesParts) {
    this.#actor = actor;
    this.#parts = parts;
  }

  list(room: Row<'room'>): WatchView[] {
    return this.#rows(room).map(({ value }) => viewOf(value));
  }

  /** It handles what is posted from now on. */
  async add(room: Row<'room'>, request: WatchRequest): Promise<WatchView> {
    const { store, now, watchers, openRoom } = this.#parts;
    const who = checkParticipantName(request.who);
    const action = await this.#action(request);
    if (this.#rows(room).some(({ value }) => value.who === who)) throw isTaken(room.name, who);
    if (this.#rows(room).length >= maxPerRoom) throw new Fault('exhausted', `the room has ${maxPerRoom} watchers`);
    const opened = await openRoom(room.value);
    await opened.addParticipant({ kind: action.kind === 'wake' ? 'sandbox' : 'service', name: who });
    const value: RoomWatch = {
      ...{ room: room.id, who, action, isForAll: request.all ?? false, createdAt: now(), paused: null },
      ...{ position: (await opened.status()).lastId, delivery: null, handled: 0, failed: 0, wakes: [] },
    };
    const id = randomBytes(8).toString('hex');
    const row = { kind: 'roomWatch' as const, id, owner: this.#actor.name, name: `${room.id}/${who}`, value };
    store.insert(row, this.#event('room.watch', who));
    watchers.watch(id);
    return viewOf(value);
  }

  async remove(room: Row<'room'>, who: string): Promise<WatchView> {
    const { id, value } = this.#row(room, who);
    await this.#parts.watchers.unwatch(id);
    const row = this.#parts.store.get('roomWatch', id);
    if (row !== null) this.#parts.store.remove(row, this.#event('room.unwatch', who));
    return viewOf(value);
  }

  resume(room: Row<'room'>, who: string): WatchView {
    const row = this.#row(room, who);
    const value = { ...row.value, paused: null, wakes: [] };
    this.#parts.store.update(row, value, this.#event('room.resume', who));
    this.#parts.watchers.watch(row.id);
    return viewOf(value);
  }

  /** The first two act on the machine itself, with the rights of the daemon. */
  async #action({ who, run, webhook, secret, wake }: WatchRequest): Promise<WatchAction> {
    if (run !== undefined) {
      requireOwner(this.#actor);
      return { kind: 'run', argv: run };
    }
    if (webhook !== undefined) {
      requireOwner(this.#actor);
      if (secret !== undefined) this.#parts.requireSecret(secret);
      return { kind: 'webhook', url: webhook, secret: secret ?? null };
    }
    await this.#parts.requireSandbox(who);
    return { kind: 'wake', argv: wake!.command ?? commandOf(wake!.agent) };
  }

  #rows(room: Row<'room'>): Row<'roomWatch'>[] {
    return this.#parts.store.list('roomWatch', this.#actor.name).filter(({ value }) => value.room === room.id);
  }

  #row(room: Row<'room'>, who: string): Row<'roomWatch'> {
    const found = this.#rows(room).find(({ value }) => value.who === who);
    if (found) return found;
    throw new Fault('not_found', `the room ${room.name} has no watcher ${who}`, {
      hint: `See: carrel room watch ${room.name}`,
    });
  }

  #event(type: string, who: string) {
    return { at: this.#parts.now(), type, subject: who, data: { user: this.#actor.name } };
  }
}

function commandOf(agent = 'claude'): readonly string[] {
  const command = wakeCommands[agent];
  if (command) return command;
  throw new Fault('invalid', `${agent} cannot be woken by its name`, {
    hint: `Known: ${Object.keys(wakeCommands).join(', ')}. For others name the command after --wake --.`,
  });
}

function isTaken(room: string, who: string): Fault {
  return new Fault('conflict', `the room ${room} has a watcher ${who} already`, {
    hint: `Remove it first: carrel room watch ${room} ${who} --rm`,
  });
}

function viewOf({ who, action, isForAll, createdAt, paused, delivery, handled, failed }: RoomWatch): WatchView {
  const { kind } = action;
  const what = action.kind === 'webhook' ? { url: action.url } : { command: [...action.argv] };
  const now = delivery === null ? null : { message: delivery.id, attempts: delivery.attempts };
  return { who, kind, ...what, all: isForAll, createdAt, paused, handling: now, handled, failed };
}
