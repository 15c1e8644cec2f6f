/** The objects of a thread, by key, on the side of the thread: see `thread-link.ts`. */
import { parentPort } from 'node:worker_threads';
import { asFault, type Fault } from '../../model/fault.ts';
import type { FromThread, StartThread, ThreadCall } from './thread-link.ts';

interface Closable {
  close(): Promise<void>;
}

/** How a thread opens objects of one kind. */
export interface ThreadObjectKind<T extends Closable> {
  /** `push` sends something to the opener, at any time. */
  open(key: string, args: readonly unknown[], push: (message: unknown) => void): T;
  /** The answer to `open`; also for an object that is open already. */
  opened?(object: T): unknown;
  /** Removes what an object leaves when it is closed. */
  erase?(key: string): void;
  /** Left out: a call opens what is not open. */
  notOpen?(key: string): Fault;
  faultOf(key: string, error: unknown): Fault;
  /** Called when all objects are closed. */
  dispose?(): void;
}

export class ThreadObjects<T extends Closable> {
  readonly #byKey = new Map<string, T>();
  readonly #kind: ThreadObjectKind<T>;
  readonly #send: (message: FromThread) => void;

  constructor(kind: ThreadObjectKind<T>, send: (message: FromThread) => void) {
    this.#kind = kind;
    this.#send = send;
  }

  /** Calls begin without waiting, so that they keep their order. */
  receive(message: ThreadCall): void {
    const { call } = message;
    this.#do(message)
      .then((value) => this.#send({ call, value }))
      .catch((error: unknown) => this.#send({ call, fault: asFault(error).toJSON() }));
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#byKey.keys()].map((key) => this.#close(key)));
    this.#kind.dispose?.();
  }

  async #do({ key, method, args }: ThreadCall): Promise<unknown> {
    try {
      if (method === 'open') return this.#answerOf(this.#open(key, args));
      if (method === 'close') return await this.#close(key);
      if (method === 'erase') return await this.#erase(key);
      return await (this.#get(key)[method as keyof T] as (...args: readonly unknown[]) => unknown)(...args);
    } catch (error) {
      throw this.#kind.faultOf(key, error);
    }
  }

  #get(key: string): T {
    if (this.#kind.notOpen !== undefined && !this.#byKey.has(key)) throw this.#kind.notOpen(key);
    return this.#open(key, []);
  }

  #open(key: string, args: readonly unknown[]): T {
    const push = (pushed: unknown) => this.#send({ key, pushed });
    const object = this.#byKey.get(key) ?? this.#kind.open(key, args, push);
    this.#byKey.set(key, object);
    return object;
  }

  #answerOf(object: T): unknown {
    return this.#kind.opened?.(object);
  }

  /** To close what is not open does nothing. */
  async #close(key: string): Promise<void> {
    const object = this.#byKey.get(key);
    this.#byKey.delete(key);
    await object?.close();
  }

  /** Closes first, so that nothing that was acknowledged goes into a file without a name. */
  async #erase(key: string): Promise<void> {
    await this.#close(key);
    this.#kind.erase?.(key);
  }
}

/** The program of a thread. */
export function serveThread<T extends Closable>(kind: ThreadObjectKind<T>): void {
  const objects = new ThreadObjects(kind, (message) => parentPort?.postMessage(message));
  parentPort?.on('message', (message: ThreadCall) => objects.receive(message));
}

/** The objects in the thread of the caller, for tests. Arguments and results are copied all the same. */
export function withoutThread<T extends Closable>(kind: () => ThreadObjectKind<T>): StartThread {
  return (receiver) => {
    const objects = new ThreadObjects(kind(), (message) => receiver.received(structuredClone(message)));
    return { send: (message) => objects.receive(structuredClone(message)), end: () => objects.closeAll() };
  };
}
