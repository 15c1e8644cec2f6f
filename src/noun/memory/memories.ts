/** The memories of all users, on the daemon's side of the threads: one writes, one reads, so that a save does not wait for a search. */
import { Openings } from '../../lib/file/openings.ts';
import { remote } from '../../lib/wire/remote.ts';
import { ThreadCalls } from '../../lib/wire/thread-calls.ts';
import { isFault } from '../../model/fault.ts';
import type { Memories, Memory } from './memory.ts';
import { type MemoryLink, type MemoryReceiver, startMemoryThread, type ToMemoryThread } from './memory-link.ts';
import type { MemoryLimits } from './model/memory.ts';

type Start = (receiver: MemoryReceiver) => MemoryLink;

export function openMemories(start: Start = startMemoryThread): Memories {
  return new ThreadMemories(start);
}

type Calls = ThreadCalls<ToMemoryThread>;

class ThreadMemories implements Memories {
  readonly #open = new Openings<Memory>();
  /** Folders in whose file a call found damage. */
  readonly #suspects = new Set<string>();
  readonly #writes: Calls;
  readonly #reads: Calls;

  constructor(start: Start) {
    // Memories are opened again when they are next needed.
    const events = { broken: () => this.#open.forgetAll() };
    this.#writes = new ThreadCalls(start, 'a thread of the memory', events);
    this.#reads = new ThreadCalls(start, 'a thread of the memory', events);
  }

  open(folder: string, limits: MemoryLimits): Promise<Memory> {
    return this.#open.get(folder, () => this.#openNow(folder, limits));
  }

  async close(): Promise<void> {
    await this.#open.closeAll();
    await Promise.all([this.#writes.end(), this.#reads.end()]);
  }

  /** The writing thread opens first: it creates the file, or sets a damaged one aside. */
  async #openNow(folder: string, limits: MemoryLimits): Promise<Memory> {
    const check = this.#suspects.delete(folder);
    await this.#writes.call({ folder, open: limits, check });
    await this.#reads.call({ folder, open: limits, check: false });
    const ask = (calls: Calls) => (method: keyof Memory, args: readonly unknown[]) =>
      calls.call<never>({ folder, method, args }).catch((error: unknown) => this.#failed(folder, error));
    return {
      ...remote(['save', 'remove', 'removeAll', 'expire'], ask(this.#writes)),
      ...remote(['search', 'get', 'list', 'vectors', 'status'], ask(this.#reads)),
      close: () => this.#closeNow(folder),
    };
  }

  async #failed(folder: string, error: unknown): Promise<never> {
    if (isFault(error, 'corrupt') && this.#open.has(folder)) {
      this.#suspects.add(folder);
      await this.#closeNow(folder);
    }
    throw error;
  }

  async #closeNow(folder: string): Promise<void> {
    this.#open.forget(folder);
    await this.#reads.call({ folder, method: 'close', args: [] });
    await this.#writes.call({ folder, method: 'close', args: [] });
  }
}
