/** Limits the connections that one token uses at a time, so that some are left for other tokens. */
import type { EventEmitter } from 'node:events';
import { Fault } from '../../model/fault.ts';

export class CallerLimit {
  readonly #max: number;
  readonly #open = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Counts a connection until it emits `close`. */
  take(caller: string, connection: Pick<EventEmitter, 'once'>): void {
    const open = this.#open.get(caller) ?? 0;
    if (open >= this.#max)
      throw new Fault('unavailable', `this token has ${this.#max} connections open`, {
        hint: 'Close some of them, or try again later.',
      });
    this.#open.set(caller, open + 1);
    connection.once('close', () => this.#release(caller));
  }

  #release(caller: string): void {
    const left = (this.#open.get(caller) ?? 1) - 1;
    if (left > 0) this.#open.set(caller, left);
    else this.#open.delete(caller);
  }
}
