/**
 * One watcher: handles the messages of a room that are for it, in their order, one at a time.
 *
 *   passed over, or: begun → acted → recorded
 *   a failure is tried again after a wait; after the last attempt the message goes to dead/ of the room
 *
 * Everything is in the watcher's row, so the next daemon continues where this one ended. A daemon that is killed between the act and
 * its record acts again with the same message id; the answer of a sandbox is posted once all the same, because it has a key.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Store } from '../../../../kernel/store/store.ts';
import { Backoff } from '../../../../lib/flow/backoff.ts';
import { crashPoint } from '../../../../lib/flow/crash-point.ts';
import { asFault, type Fault } from '../../../../model/fault.ts';
import type { Participant, RoomMessage } from '../../model/room.ts';
import { isFor, maxAttempts, maxChain, maxWakesPerHour, type RoomWatch, recentWakes } from '../../model/watch.ts';
import type { Room } from '../../room.ts';

export interface WatcherParts {
  readonly store: Pick<Store, 'get' | 'update' | 'remove'>;
  /** The room of a row's id; null: it was removed. */
  open(room: string): Promise<Room | null>;
  /** The text that it returns is posted to the room; null: nothing is posted. */
  act(watch: RoomWatch, owner: string, message: RoomMessage, signal: AbortSignal): Promise<string | null>;
  readonly now: () => string;
  readonly nowMs: () => number;
  readonly report: (subject: string, fault: Fault) => void;
}

/** The position is written at least once after so many messages that were passed over. */
const passedOver = 200;
const reopenMs = 5000;
const sampleBytes = 64 * 1024;

export class Watcher {
  readonly #id: string;
  readonly #parts: WatcherParts;
  readonly #ending = new AbortController();
  readonly #backoff = new Backoff();
  readonly ended: Promise<void>;

  constructor(id: string, parts: WatcherParts) {
    this.#id = id;
    this.#parts = parts;
    this.ended = this.#run();
  }

  end(): void {
    this.#ending.abort();
  }

  get #signal(): AbortSignal {
    return this.#ending.signal;
  }

  async #run(): Promise<void> {
    while (this.#isActive()) {
      try {
        await this.#follow();
      } catch (error) {
        if (this.#signal.aborted) return;
        this.#parts.report(this.#id, asFault(error));
        await this.#pause(reopenMs);
      }
    }
  }

  #isActive(): boolean {
    return !this.#signal.aborted && this.#row()?.value.paused === null;
  }

  async #follow(): Promise<void> {
    const row = this.#row()!;
    const room = await this.#parts.open(row.value.room);
    if (room === null) {
      const event = {
        at: this.#parts.now(),
        type: 'room.unwatched',
        subject: row.value.who,
        data: { user: row.owner },
      };
      return this.#parts.store.remove(row, event);
    }
    let skipped = 0;
    for await (const message of room.follow(row.value.position, this.#signal)) {
      const watch = this.#row()?.value;
      if (watch === undefined || watch.paused !== null) return;
      if (isFor(watch, message)) await this.#handle(room, message);
      else if (++skipped % passedOver === 0) this.#change({ position: message.id }, { lazy: true });
      if (!this.#isActive()) return;
    }
    // The room was closed, to be removed for example.
    if (!this.#signal.aborted) await this.#pause(100);
  }

  async #handle(room: Room, message: RoomMessage): Promise<void> {
    const reason = await this.#loopReason(room, message);
    if (reason !== null) return this.#stop(room, message, reason);
    while (this.#isActive() && !(await this.#attempt(room, message))) {
      await this.#pause(this.#backoff.waitMs(this.#parts.nowMs()));
    }
  }

  /** Whether the message needs no further attempt. */
  async #attempt(room: Room, message: RoomMessage): Promise<boolean> {
    const { delivery, wakes } = this.#row()!.value;
    const attempts = (delivery?.id === message.id ? delivery.attempts : 0) + 1;
    this.#change({ delivery: { id: message.id, attempts }, wakes: attempts > 1 ? wakes : this.#wakesNow() });
    crashPoint('watch.begun');
    try {
      const { value, owner } = this.#row()!;
      const answer = await this.#parts.act(value, owner, message, this.#signal);
      crashPoint('watch.acted');
      if (answer !== null) await this.#answer(room, message, answer);
      crashPoint('watch.answered');
      this.#backoff.succeeded();
      this.#change({ position: message.id, delivery: null, handled: this.#row()!.value.handled + 1 });
      return true;
    } catch (error) {
      return this.#failed(room, message, attempts, error);
    }
  }

  async #failed(room: Room, message: RoomMessage, attempts: number, error: unknown): Promise<boolean> {
    if (this.#signal.aborted || this.#row() === null) return true;
    this.#backoff.failed(this.#parts.nowMs());
    if (attempts < maxAttempts) return false;
    const { who, failed } = this.#row()!.value;
    await room.refuse({
      ...{ from: message.from, name: `${message.id}-for-${who}.md`, key: `watch:${this.#id}:${message.id}` },
      reason: `${who} could not handle it, ${attempts} attempts: ${asFault(error).message}`,
      sample: Buffer.from(message.body).subarray(0, sampleBytes),
    });
    crashPoint('watch.refused');
    this.#backoff.succeeded();
    this.#change({ position: message.id, delivery: null, failed: failed + 1 });
    return true;
  }

  /** Why the watcher has to pause: two agents that mention each other would go on for ever. Null: it goes on. */
  async #loopReason(room: Room, message: RoomMessage): Promise<string | null> {
    const watch = this.#row()!.value;
    if (recentWakes(watch, this.#parts.now()).length >= maxWakesPerHour) {
      return `it was woken ${maxWakesPerHour} times within an hour`;
    }
    let length = 0;
    for (let one: RoomMessage | null = message; one?.via === 'watch'; ) {
      length += 1;
      if (length >= maxChain) return `watchers answered each other ${maxChain} times in a row`;
      one = one.replyTo === null ? null : await room.get(one.replyTo);
    }
    return null;
  }

  /** Records the message as passed over, so that `resume` does not stop at it again. */
  async #stop(room: Room, message: RoomMessage, reason: string): Promise<void> {
    const { who } = this.#row()!.value;
    await this.#answer(
      room,
      message,
      `${who} is paused: ${reason}. To continue: carrel room watch ROOM ${who} --resume`,
    );
    crashPoint('watch.stopped');
    this.#change({ paused: reason, position: message.id, delivery: null, wakes: [] });
  }

  async #answer(room: Room, message: RoomMessage, body: string): Promise<void> {
    const { who, action } = this.#row()!.value;
    const from: Participant = { kind: action.kind === 'wake' ? 'sandbox' : 'service', name: who };
    await room.post({ from, via: 'watch', body, replyTo: message.id, key: `watch:${this.#id}:${message.id}` });
  }

  #wakesNow(): readonly string[] {
    const { value } = this.#row()!;
    return value.action.kind === 'wake' ? [...recentWakes(value, this.#parts.now()), this.#parts.now()] : [];
  }

  #row() {
    return this.#parts.store.get('roomWatch', this.#id);
  }

  /** Reads the row again, because it may have changed meanwhile, by `resume` for example. */
  #change(change: Partial<RoomWatch>, options = {}): void {
    const row = this.#row();
    if (row === null) return;
    const event = { at: this.#parts.now(), type: 'room.watched', subject: row.value.who, data: { user: row.owner } };
    this.#parts.store.update(row, { ...row.value, ...change }, event, options);
  }

  async #pause(ms: number): Promise<void> {
    // The pause ends early when the watcher ends, ignoring.
    await pause(ms, undefined, { signal: this.#signal, ref: false }).catch(() => {});
  }
}
