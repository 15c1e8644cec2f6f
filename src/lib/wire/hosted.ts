/** What is open by folder in a thread, which gets calls as the name of a method and its arguments. */
import type { Fault } from '../../model/fault.ts';

interface MethodCall<T> {
  readonly method: keyof T;
  readonly args: readonly unknown[];
}

export class Hosted<T extends { close(): Promise<void> }> {
  readonly #byFolder = new Map<string, T>();
  readonly #notOpen: (folder: string) => Fault;

  constructor(notOpen: (folder: string) => Fault) {
    this.#notOpen = notOpen;
  }

  get(folder: string, open: () => T): T {
    const one = this.#byFolder.get(folder) ?? open();
    this.#byFolder.set(folder, one);
    return one;
  }

  /** To close what is not open does nothing. */
  async call(folder: string, { method, args }: MethodCall<T>): Promise<unknown> {
    if (method === 'close') return this.close(folder);
    const one = this.#byFolder.get(folder);
    if (one === undefined) throw this.#notOpen(folder);
    return (one[method] as (...args: readonly unknown[]) => unknown)(...args);
  }

  async close(folder: string): Promise<void> {
    const one = this.#byFolder.get(folder);
    this.#byFolder.delete(folder);
    await one?.close();
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#byFolder.keys()].map((folder) => this.close(folder)));
  }
}
