/** The pauses that this instance of an engine has made. The caller passes the functions that pause and resume. */
import { Exclusive } from '../../lib/flow/exclusive.ts';

interface Pause {
  readonly over: Promise<void>;
  readonly end: () => void;
}

type Act = () => Promise<void> | void;

export class OwnPauses {
  readonly #own = new Map<string, Pause>();
  readonly #exclusive = new Exclusive();

  has(id: string): boolean {
    return this.#own.has(id);
  }

  ids(): string[] {
    return [...this.#own.keys()];
  }

  /**
   * Settles when the pause is over, so that new processes may begin inside; null: this instance has not paused the
   * sandbox.
   */
  over(id: string): Promise<void> | null {
    return this.#own.get(id)?.over ?? null;
  }

  /** No new process begins inside from the moment `hold` is called. */
  begin(id: string, hold: Act, release: Act): Promise<void> {
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

  /** Also ends a pause that another instance made. */
  end(id: string, release: Act): Promise<void> {
    return this.#exclusive.run(id, () => this.#end(id, release));
  }

  /** When `release` fails, the pause has no owner any more, and the next inspection ends it. */
  async #end(id: string, release: Act): Promise<void> {
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
