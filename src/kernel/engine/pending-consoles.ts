import type { Console } from './engine.ts';

/** How long a console that was opened at the start waits for its client. */
const clientMs = 10_000;

/** Consoles that were connected before their command began, until their client attaches. */
export class PendingConsoles {
  readonly #consoles = new Map<string, { console: Console; timer: NodeJS.Timeout }>();

  add(id: string, console: Console): void {
    this.release(id);
    this.#consoles.set(id, { console, timer: setTimeout(() => this.release(id), clientMs) });
  }

  /** The console, which the caller then owns; null: none is pending. */
  take(id: string): Console | null {
    const pending = this.#consoles.get(id);
    this.#consoles.delete(id);
    clearTimeout(pending?.timer);
    return pending?.console ?? null;
  }

  release(id: string): void {
    this.take(id)?.detach();
  }

  releaseAll(): void {
    for (const id of [...this.#consoles.keys()]) this.release(id);
  }
}
