/** Waits until something in a folder has changed since the last call. */
import { watch } from 'node:fs';

export class FolderChanges {
  readonly #watcher: ReturnType<typeof watch>;
  #changed = false;
  #wake: (() => void) | null = null;

  constructor(folder: string, signal: AbortSignal | undefined) {
    this.#watcher = watch(folder, () => this.notice());
    this.#watcher.on('error', () => this.notice());
    signal?.addEventListener('abort', () => this.notice());
  }

  notice(): void {
    this.#changed = true;
    this.#wake?.();
  }

  async next(): Promise<void> {
    if (!this.#changed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#changed = false;
    this.#wake = null;
  }

  close(): void {
    this.#watcher.close();
  }
}
