/** The watchers of all rooms and users that are active in this daemon. */

import type { Process } from '../../engine/engine.ts';
import { removeTree } from '../../lib/file.ts';
import { Fault, type Fault as FaultType } from '../../model/fault.ts';
import type { Message, RoomRecord } from '../../model/room.ts';
import type { RoomWatch } from '../../model/room-watch.ts';
import type { Room } from '../../room/room.ts';
import type { Store } from '../../store/store.ts';
import { type Delivered, postWebhook, runProgram, wakeAgent } from './watch-actions.ts';
import { Watcher } from './watcher.ts';

export interface WatchersParts {
  readonly store: Store;
  readonly openRoom: (record: RoomRecord) => Promise<Room>;
  readonly secret: (owner: string, name: string) => Buffer;
  /** Starts a program in a sandbox, which is started if needed. `settled` is called at its end. */
  readonly exec: (
    owner: string,
    sandbox: string,
    argv: readonly string[],
  ) => Promise<{ readonly program: Process; settled(): Promise<void> }>;
  /** Makes a folder for temporary files. */
  readonly makeScratch: () => string;
  readonly now: () => string;
  readonly report: (subject: string, fault: FaultType) => void;
}

export class Watchers {
  readonly #parts: WatchersParts;
  readonly #active = new Map<string, Watcher>();

  constructor(parts: WatchersParts) {
    this.#parts = parts;
  }

  start(): void {
    for (const { id, value } of this.#parts.store.list('roomWatch')) if (value.paused === null) this.watch(id);
  }

  /** Idempotent. */
  watch(id: string): void {
    if (this.#active.has(id)) return;
    const { store, now, report } = this.#parts;
    const watcher = new Watcher(id, {
      ...{ store, now, report },
      nowMs: () => performance.now(),
      open: (room) => this.#open(room),
      act: (watch, owner, message, signal) => this.#act(watch, owner, message, signal),
    });
    this.#active.set(id, watcher);
    void watcher.ended.then(() => {
      if (this.#active.get(id) === watcher) this.#active.delete(id);
    });
  }

  /** Ends the watcher, and what it does now. */
  async unwatch(id: string): Promise<void> {
    const watcher = this.#active.get(id);
    watcher?.end();
    await watcher?.ended;
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.#active.keys()].map((id) => this.unwatch(id)));
  }

  async #open(room: string): Promise<Room | null> {
    const row = this.#parts.store.get('room', room);
    return row === null ? null : this.#parts.openRoom(row.value);
  }

  async #act(watch: RoomWatch, owner: string, message: Message, signal: AbortSignal): Promise<string | null> {
    const { action, who } = watch;
    const room = this.#parts.store.get('room', watch.room)?.name;
    if (room === undefined) throw new Fault('not_found', 'the room was removed');
    const delivered: Delivered = { room, who, message };
    switch (action.kind) {
      case 'run':
        await this.#runProgram(action.argv, delivered, signal);
        return null;
      case 'webhook': {
        const key = action.secret === null ? null : this.#parts.secret(owner, action.secret);
        await postWebhook(action.url, key, delivered, signal);
        return null;
      }
      case 'wake': {
        const { program, settled } = await this.#parts.exec(owner, who, action.argv);
        return wakeAgent(program, delivered, signal).finally(settled);
      }
    }
  }

  async #runProgram(argv: readonly string[], delivered: Delivered, signal: AbortSignal): Promise<void> {
    const scratch = this.#parts.makeScratch();
    try {
      await runProgram(argv, scratch, delivered, signal);
    } finally {
      await removeTree(scratch);
    }
  }
}
