/** Which sandboxes this instance of an engine holds still. How that is done is the engine's. */
import { Exclusive } from '../lib/exclusive.ts';

interface Pause {
  readonly over: Promise<void>;
  readonly end: () => void;
}

type Step = () => Promise<void> | void;

export class OwnPauses {
  readonly #own = new Map<string, Pause>();
  readonly #exclusive = new Exclusive();

  has(id: string): boolean {
    return this.#own.has(id);
  }

  ids(): string[] {
    return [...this.#own.keys()];
  }

  /** What to wait for before something new may begin inside; null when nothing is held still by us. */
  over(id: string): Promise<void> | null {
    return this.#own.get(id)?.over ?? null;
  }

  /** Nothing new begins inside from the moment on in which `hold` begins. */
  begin(id: string, hold: Step, release: Step): Promise<void> {
    return this.#exclusive.run(id, async () => {
      if (this.#own.has(id)) return;
      this.#own.set(id, newPause());
      try {
        await hold();
      } catch (error) {
        await this.#end(id, release);
        throw error;
      }
    });
  }

  /** Whoever had paused it. */
  end(id: string, release: Step): Promise<void> {
    return this.#exclusive.run(id, () => this.#end(id, release));
  }

  /** What could not be released is nobody's pause, and ended by whoever looks next. */
  async #end(id: string, release: Step): Promise<void> {
    try {
      await release();
    } finally {
      this.#own.get(id)?.end();
      this.#own.delete(id);
    }
  }
}

function newPause(): Pause {
  let end = () => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { over, end };
}
