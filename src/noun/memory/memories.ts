/** The memories of all users, on the daemon's side of the threads: one writes, one reads, so that a save does not wait for a search. */
import { Openings } from '../../lib/file/openings.ts';
import { programThread, ThreadCalls } from '../../lib/wire/thread-calls.ts';
import type { StartThread } from '../../lib/wire/thread-link.ts';
import { isFault } from '../../model/fault.ts';
import type { Memories, Memory } from './memory.ts';
import type { MemoryLimits } from './model/memory.ts';

const writingCalls = ['save', 'remove', 'removeAll', 'expire'] as const;
const readingCalls = ['search', 'get', 'list', 'vectors', 'status'] as const;

export function openMemories(start = programThread('memory-thread')): Memories {
  return new ThreadMemories(start);
}

class ThreadMemories implements Memories {
  readonly #open = new Openings<Memory>();
  /** Folders in whose file a call found damage. */
  readonly #suspects = new Set<string>();
  readonly #writes: ThreadCalls;
  readonly #reads: ThreadCalls;

  constructor(start: StartThread) {
    // Memories are opened again when they are next needed.
    const options = { name: 'a thread of the memory', start, broken: () => this.#open.forgetAll() };
    this.#writes = new ThreadCalls(options);
    this.#reads = new ThreadCalls(options);
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
    await this.#writes.call(folder, 'open', limits, check);
    await this.#reads.call(folder, 'open', limits, false);
    const failed = (error: unknown) => this.#failed(folder, error);
    return {
      ...this.#writes.remote<Memory, (typeof writingCalls)[number]>(folder, writingCalls, failed),
      ...this.#reads.remote<Memory, (typeof readingCalls)[number]>(folder, readingCalls, failed),
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
    await this.#reads.call(folder, 'close');
    await this.#writes.call(folder, 'close');
  }
}
