/** The watchers of all rooms and users that are active in this daemon. */

import type { Process } from '../../../../kernel/engine/engine.ts';
import type { Kernel } from '../../../../kernel/kernel.ts';
import { removeTree } from '../../../../lib/file/file.ts';
import { Fault, type Fault as FaultType } from '../../../../model/fault.ts';
import { hasEnded, type Sandbox } from '../../../sandbox/model.ts';
import type { Sandboxes } from '../../../sandbox/sandbox.ts';
import type { RoomMessage, RoomRecord } from '../../model/room.ts';
import type { RoomWatch } from '../../model/watch.ts';
import type { Room } from '../../room.ts';
import { Watcher } from './watch.ts';
import { type Delivered, postWebhook, runProgram, wakeAgent } from './watch-actions.ts';

/** What the watchers of one user need to wake an agent. */
export interface WakeScope {
  readonly sandboxes: Pick<Sandboxes, 'current' | 'start'>;
  readonly commands: {
    /** Records what a command may have changed. */
    ended(sandbox: Sandbox): Promise<void>;
  };
}

export interface WatchersParts extends Pick<Kernel, 'store' | 'now'> {
  readonly openRoom: (record: RoomRecord) => Promise<Room>;
  readonly secret: (owner: string, name: string) => Buffer;
  readonly scopeOf: (user: string) => WakeScope;
  /** Starts a program in a running sandbox. */
  readonly startIn: (sandbox: Sandbox, command: readonly string[]) => Promise<Process>;
  /** Makes a folder for temporary files. */
  readonly makeScratch: () => string;
  readonly report: (subject: string, fault: FaultType) => void;
}

export class RoomWatchers {
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

  async #act(watch: RoomWatch, owner: string, message: RoomMessage, signal: AbortSignal): Promise<string | null> {
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
      case 'wake':
        return this.#wake(owner, action.argv, delivered, signal);
    }
  }

  /** Starts the sandbox of the agent if it has ended. */
  async #wake(owner: string, argv: readonly string[], delivered: Delivered, signal: AbortSignal): Promise<string> {
    const { sandboxes, commands } = this.#parts.scopeOf(owner);
    const { who } = delivered;
    if (hasEnded((await sandboxes.current(who)).value.status)) await sandboxes.start(who);
    const { value: sandbox } = await sandboxes.current(who);
    const program = await this.#parts.startIn(sandbox, argv);
    return wakeAgent(program, delivered, signal).finally(() => commands.ended(sandbox));
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
