/** Versions that are recorded and neither settled nor dropped: of a daemon that died, or of a disk that became full. */
import { isDiskFull } from './bank-fault.ts';
import type { History } from './history.ts';

export class Unsettled {
  readonly #history: History;
  readonly #hashAt: (path: string) => string | null;
  /** Writes of this process whose file is in place. */
  readonly #placed = new Set<number>();
  #mayExist = true;

  /** `hashAt`: of the content that the file has now. */
  constructor(history: History, hashAt: (path: string) => string | null) {
    this.#history = history;
    this.#hashAt = hashAt;
  }

  /** A write of an earlier process was done if its file has the content. */
  settleAll(): void {
    if (!this.#mayExist) return;
    for (const { id, path, hash } of this.#history.pending())
      this.#finish(id, this.#placed.has(id) || this.#hashAt(path) === hash);
    this.#placed.clear();
    this.#mayExist = false;
  }

  /** Without space the version stays as it is until the next `settleAll`: its record and its file are on disk already. */
  end(id: number, isPlaced: boolean): void {
    try {
      this.#finish(id, isPlaced);
    } catch (error) {
      this.#mayExist = true;
      if (isPlaced) this.#placed.add(id);
      if (!isDiskFull(error)) throw error;
    }
  }

  #finish(id: number, isPlaced: boolean): void {
    this.#history.transact(() => (isPlaced ? this.#history.settle(id, null) : this.#history.drop(id)));
  }
}
