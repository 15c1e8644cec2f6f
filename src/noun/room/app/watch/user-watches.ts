/** The watchers of one user's rooms. */
import { randomBytes } from 'node:crypto';
import type { Kernel } from '../../../../kernel/kernel.ts';
import type { Row } from '../../../../kernel/store/store.ts';
import { Fault } from '../../../../model/fault.ts';
import { type Actor, requireOwner } from '../../../../model/user.ts';
import type { Sandboxes } from '../../../sandbox/sandbox.ts';
import type { UserSecrets } from '../../../user/app/secret/user-secrets.ts';
import type { WatchRequest, WatchView } from '../../api.ts';
import { checkParticipantName, type RoomRecord } from '../../model/room.ts';
import { type RoomWatch, type WatchAction, wakeCommands } from '../../model/watch.ts';
import type { Room } from '../../room.ts';
import type { RoomWatchers } from './room-watchers.ts';

export interface UserWatchesParts extends Pick<Kernel, 'store' | 'now'> {
  readonly watchers: Pick<RoomWatchers, 'watch' | 'unwatch'>;
  readonly openRoom: (record: RoomRecord) => Promise<Room>;
  readonly sandboxes: () => Pick<Sandboxes, 'current'>;
  readonly secrets: Pick<UserSecrets, 'list'>;
}

const maxPerRoom = 50;

type WatchFields = Pick<RoomWatch, 'who' | 'action' | 'isForAll' | 'fleet'>;

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

  /** The watchers of all rooms of the user. */
  all(): { room: string; who: string; action: WatchAction; isForAll: boolean; fleet: string | null }[] {
    const { store } = this.#parts;
    return store
      .list('roomWatch', this.#actor.name)
      .flatMap(({ value: { room: id, who, action, isForAll, fleet } }) => {
        const room = store.get('room', id)?.name;
        return room === undefined ? [] : [{ room, who, action, isForAll, fleet: fleet ?? null }];
      });
  }

  /**
   * The watcher handles messages that are posted from now on. A watcher that the same fleet added before is changed.
   */
  async add(room: Row<'room'>, request: WatchRequest): Promise<WatchView> {
    const who = checkParticipantName(request.who);
    const fleet = request.fleet ?? null;
    const action = await this.#action(request);
    const there = this.#rows(room).find(({ value }) => value.who === who);
    if (there && (fleet === null || there.value.fleet !== fleet)) throw isTaken(room.name, who);
    const opened = await this.#parts.openRoom(room.value);
    await opened.addParticipant({ kind: action.kind === 'wake' ? 'sandbox' : 'service', name: who });
    const fields = { who, action, isForAll: request.all ?? false, fleet };
    return there ? this.#change(there.id, fields) : this.#insert(room, opened, fields);
  }

  async #insert(room: Row<'room'>, opened: Room, fields: WatchFields): Promise<WatchView> {
    const { store, now, watchers } = this.#parts;
    if (this.#rows(room).length >= maxPerRoom) {
      throw new Fault('exhausted', `the room ${room.name} has ${maxPerRoom} watchers already`, {
        hint: `Remove one with: carrel room watch ${room.name} WHO --rm`,
      });
    }
    const value: RoomWatch = {
      ...{ ...fields, room: room.id, createdAt: now(), paused: null },
      ...{ position: (await opened.status()).lastId, delivery: null, handled: 0, failed: 0, wakes: [] },
    };
    const id = randomBytes(8).toString('hex');
    const row = { kind: 'roomWatch' as const, id, owner: this.#actor.name, name: `${room.id}/${fields.who}`, value };
    store.insert(row, this.#event('room.watch', fields.who));
    watchers.watch(id);
    return viewOf(value);
  }

  /** The message that is being handled is handled again, with the new action. */
  async #change(id: string, fields: WatchFields): Promise<WatchView> {
    const { store, watchers } = this.#parts;
    await watchers.unwatch(id);
    const row = store.get('roomWatch', id);
    if (row === null) throw new Fault('conflict', `the watcher ${fields.who} was removed meanwhile`);
    const value = { ...row.value, ...fields, delivery: null };
    store.update(row, value, this.#event('room.watch', fields.who));
    if (value.paused === null) watchers.watch(id);
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

  /** `run` and `webhook` act on the machine itself, with the rights of the daemon, so they are for the owner. */
  async #action({ who, run, webhook, secret, wake }: WatchRequest): Promise<WatchAction> {
    if (run !== undefined) {
      requireOwner(this.#actor);
      return { kind: 'run', argv: run };
    }
    if (webhook !== undefined) {
      requireOwner(this.#actor);
      if (secret !== undefined) this.#requireSecret(secret);
      return { kind: 'webhook', url: webhook, secret: secret ?? null };
    }
    await this.#parts.sandboxes().current(who);
    return { kind: 'wake', argv: wake!.command ?? commandOf(wake!.agent) };
  }

  #requireSecret(name: string): void {
    if (this.#parts.secrets.list().some((secret) => secret.name === name)) return;
    throw new Fault('not_found', `no secret ${name}`, { hint: `Set it with: carrel secret set ${name}` });
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
  throw new Fault('invalid', `no command is known that wakes the agent ${agent}`, {
    hint: `Known: ${Object.keys(wakeCommands).join(', ')}. For others name the command after --wake --.`,
  });
}

function isTaken(room: string, who: string): Fault {
  return new Fault('conflict', `the room ${room} has a watcher ${who} already`, {
    hint: `Remove it first: carrel room watch ${room} ${who} --rm`,
  });
}

function viewOf({
  who,
  action,
  isForAll,
  fleet = null,
  createdAt,
  paused,
  delivery,
  handled,
  failed,
}: RoomWatch): WatchView {
  const { kind } = action;
  const what = action.kind === 'webhook' ? { url: action.url } : { command: [...action.argv] };
  const now = delivery === null ? null : { message: delivery.id, attempts: delivery.attempts };
  return { who, kind, ...what, all: isForAll, fleet, createdAt, paused, handling: now, handled, failed };
}
