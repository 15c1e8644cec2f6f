import type { Console } from './engine.ts';

/** How long a console that was opened at the start waits for its client. */
const heldMs = 10_000;

/** Consoles that were connected before their command began, until their client attaches. */
export class PendingConsoles {
  readonly #held = new Map<string, { console: Console; timer: NodeJS.Timeout }>();

  hold(id: string, console: Console): void {
    this.release(id);
    this.#held.set(id, { console, timer: setTimeout(() => this.release(id), heldMs) });
  }

  /** The console, which the caller then owns; null: none is held. */
  take(id: string): Console | null {
    const held = this.#held.get(id);
    this.#held.delete(id);
    clearTimeout(held?.timer);
    return held?.console ?? null;
  }

  release(id: string): void {
    this.take(id)?.detach();
  }

  releaseAll(): void {
    for (const id of [...this.#held.keys()]) this.release(id);
  }
}
