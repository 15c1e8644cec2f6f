/** The memories of all users, on the daemon's side of the threads: one writes, one reads, so that a save does not wait for a search. */
import { Fault, isFault } from '../model/fault.ts';
import type { MemoryLimits, MemoryScope, Writer } from '../model/memory.ts';
import type { Memories, Memory, NewNote, Page, Query, Selection } from './memory.ts';
import { type FromThread, type Link, type Receiver, startMemoryThread, type ToThread } from './memory-link.ts';

type Start = (receiver: Receiver) => Link;

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** A distributive `Omit`: each member of the union without its number. */
type Unnumbered<T> = T extends unknown ? Omit<T, 'call'> : never;

export function openMemories(start: Start = startMemoryThread): Memories {
  return new ThreadMemories(start);
}

/** Calls to one thread, which is started by the first. */
class Calls {
  readonly #start: Start;
  readonly #pending = new Map<number, Pending>();
  readonly #broken: () => void;
  #link: Link | null = null;
  #calls = 0;

  constructor(start: Start, broken: () => void) {
    this.#start = start;
    this.#broken = broken;
  }

  call<T>(message: Unnumbered<ToThread>): Promise<T> {
    this.#link ??= this.#start({ received: (answer) => this.#received(answer), broken: (error) => this.#fail(error) });
    const call = ++this.#calls;
    return new Promise<T>((resolve, reject) => {
      this.#pending.set(call, { resolve, reject });
      this.#link!.send({ ...message, call } as ToThread);
    });
  }

  async end(): Promise<void> {
    await this.#link?.end();
    this.#link = null;
  }

  #received(answer: FromThread): void {
    const pending = this.#pending.get(answer.call);
    this.#pending.delete(answer.call);
    if ('fault' in answer) pending?.reject(Fault.from(answer.fault));
    else pending?.resolve(answer.value as never);
  }

  #fail(cause: unknown): void {
    this.#link = null;
    this.#broken();
    const fault = new Fault('unavailable', 'a thread of the memory ended unexpectedly', { cause });
    for (const { reject } of this.#pending.values()) reject(fault);
    this.#pending.clear();
  }
}

class ThreadMemories implements Memories {
  readonly #open = new Map<string, Promise<Memory>>();
  /** Folders in whose file a call found damage. */
  readonly #suspects = new Set<string>();
  readonly #writes: Calls;
  readonly #reads: Calls;

  constructor(start: Start) {
    // Memories are opened again when they are next needed.
    const forget = () => this.#open.clear();
    this.#writes = new Calls(start, forget);
    this.#reads = new Calls(start, forget);
  }

  open(folder: string, limits: MemoryLimits): Promise<Memory> {
    const known = this.#open.get(folder);
    if (known !== undefined) return known;
    const opening = this.#openNow(folder, limits);
    this.#open.set(folder, opening);
    opening.catch(() => this.#open.delete(folder));
    return opening;
  }

  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#open.values());
    for (const one of opened) if (one.status === 'fulfilled') await one.value.close();
    await Promise.all([this.#writes.end(), this.#reads.end()]);
  }

  /** The first one makes or sets aside the file. */
  async #openNow(folder: string, limits: MemoryLimits): Promise<Memory> {
    const check = this.#suspects.delete(folder);
    await this.#writes.call({ folder, open: limits, check });
    await this.#reads.call({ folder, open: limits, check: false });
    const ask =
      (calls: Calls): Ask =>
      (method, ...args) =>
        calls.call<never>({ folder, method, args }).catch((error: unknown) => this.#failed(folder, error)) as never;
    return new ThreadMemory(ask(this.#writes), ask(this.#reads), () => this.#closeNow(folder));
  }

  async #failed(folder: string, error: unknown): Promise<never> {
    if (isFault(error, 'corrupt') && this.#open.has(folder)) {
      this.#suspects.add(folder);
      await this.#closeNow(folder);
    }
    throw error;
  }

  async #closeNow(folder: string): Promise<void> {
    this.#open.delete(folder);
    await this.#reads.call({ folder, method: 'close', args: [] });
    await this.#writes.call({ folder, method: 'close', args: [] });
  }
}

type Ask = <K extends keyof Memory>(method: K, ...args: Parameters<Memory[K]>) => ReturnType<Memory[K]>;

class ThreadMemory implements Memory {
  readonly #write: Ask;
  readonly #read: Ask;
  readonly close: () => Promise<void>;

  constructor(write: Ask, read: Ask, close: () => Promise<void>) {
    this.#write = write;
    this.#read = read;
    this.close = close;
  }

  save = (note: NewNote) => this.#write('save', note);
  remove = (id: string, scopes: readonly MemoryScope[] | null, by: Writer | null) =>
    this.#write('remove', id, scopes, by);
  removeAll = (selection: Selection) => this.#write('removeAll', selection);
  expire = (now: Date, keepDays: number | null) => this.#write('expire', now, keepDays);
  search = (query: Query) => this.#read('search', query);
  get = (id: string, scopes: readonly MemoryScope[] | null) => this.#read('get', id, scopes);
  list = (page: Page) => this.#read('list', page);
  vectors = (ids: readonly string[]) => this.#read('vectors', ids);
  status = (scopes: readonly MemoryScope[] | null) => this.#read('status', scopes);
}
