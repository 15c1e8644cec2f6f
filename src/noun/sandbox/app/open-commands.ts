/** Counts the commands that clients run in sandboxes with `exec` and `shell`. */
import type { Sandbox } from '../model.ts';

export class OpenCommands {
  readonly #open = new Map<string, number>();

  has({ id }: Pick<Sandbox, 'id'>): boolean {
    return this.#open.has(id);
  }

  async during<T>({ id }: Pick<Sandbox, 'id'>, command: () => Promise<T>): Promise<T> {
    this.#open.set(id, (this.#open.get(id) ?? 0) + 1);
    try {
      return await command();
    } finally {
      const left = this.#open.get(id)! - 1;
      if (left > 0) this.#open.set(id, left);
      else this.#open.delete(id);
    }
  }
}
