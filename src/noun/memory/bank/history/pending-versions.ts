/** Versions that are recorded, but neither settled nor dropped, because the daemon died or the disk became full. */
import { isDiskFull } from '../bank-fault.ts';
import type { History } from './history.ts';

export class PendingVersions {
  readonly #history: History;
  readonly #hashAt: (path: string) => string | null;
  /** Writes of this process whose file is in place. */
  readonly #placed = new Set<number>();
  #mayExist = true;

  /** `hashAt` returns the hash of the content that a file has now. */
  constructor(history: History, hashAt: (path: string) => string | null) {
    this.#history = history;
    this.#hashAt = hashAt;
  }

  /** Settles or drops all of them. A write of an earlier process is settled if the file has its content. */
  settleAll(): void {
    if (!this.#mayExist) return;
    for (const { id, path, hash } of this.#history.pending())
      this.#finish(id, this.#placed.has(id) || this.#hashAt(path) === hash);
    this.#placed.clear();
    this.#mayExist = false;
  }

  /**
   * On a full disk the version stays pending until the next `settleAll`: its record and its file are on disk already.
   */
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
