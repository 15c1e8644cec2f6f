/** Calls to objects in a thread, on the side of the daemon: see `thread-link.ts`. */
import { Worker } from 'node:worker_threads';
import { Fault } from '../../model/fault.ts';
import { programFile } from '../file/package.ts';
import type { FromThread, StartThread, ThreadLink, ThreadReceiver } from './thread-link.ts';

export interface ThreadOptions {
  /** For the error when it ends: `the thread of the rooms`. */
  readonly name: string;
  readonly start: StartThread;
  /** The thread ended unexpectedly; the next call starts another. */
  readonly broken?: () => void;
  /** An object sent a message by itself. */
  readonly pushed?: (key: string, message: unknown) => void;
}

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** The methods of an object that can be called by messages. */
type Methods<T> = { [K in keyof T]: T[K] extends (...args: never[]) => Promise<unknown> ? K : never }[keyof T];

export class ThreadCalls {
  readonly #options: ThreadOptions;
  readonly #pending = new Map<number, Pending>();
  #link: ThreadLink | null = null;
  #calls = 0;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  /** The number of calls that have no answer yet. */
  get waiting(): number {
    return this.#pending.size;
  }

  call<T>(key: string, method: string, ...args: readonly unknown[]): Promise<T> {
    this.#link ??= this.#start();
    const call = ++this.#calls;
    return new Promise<T>((resolve, reject) => {
      this.#link!.send({ call, key, method, args });
      this.#pending.set(call, { resolve, reject });
    });
  }

  /** Methods of the object with the key. */
  remote<T, K extends Methods<T> & string>(
    key: string,
    methods: readonly K[],
    failed: (error: unknown) => Promise<never> = (error) => Promise.reject(error),
  ): Pick<T, K> {
    const calls = methods.map((method) => [
      method,
      (...args: readonly unknown[]) => this.call(key, method, ...args).catch(failed),
    ]);
    return Object.fromEntries(calls);
  }

  /** Calls that have no answer yet fail. */
  async end(): Promise<void> {
    if (this.#link === null) return;
    await this.#link.end();
    this.#link = null;
    this.#failAll(new Fault('unavailable', `${this.#options.name} was ended`));
  }

  #start(): ThreadLink {
    const link = this.#options.start({
      // Messages of a thread that was replaced are ignored.
      received: (message) => this.#link === link && this.#received(message),
      broken: (cause) => this.#link === link && this.#broken(cause),
    });
    return link;
  }

  #received(message: FromThread): void {
    if ('key' in message) {
      this.#options.pushed?.(message.key, message.pushed);
      return;
    }
    const pending = this.#pending.get(message.call);
    this.#pending.delete(message.call);
    if ('fault' in message) pending?.reject(Fault.from(message.fault));
    else pending?.resolve(message.value as never);
  }

  #broken(cause: unknown): void {
    this.#link = null;
    this.#options.broken?.();
    this.#failAll(new Fault('unavailable', `${this.#options.name} ended unexpectedly`, { cause }));
  }

  #failAll(fault: Fault): void {
    for (const { reject } of this.#pending.values()) reject(fault);
    this.#pending.clear();
  }
}

/** Starts a program of the build in a thread that does not keep the process alive. */
export function programThread(program: string): StartThread {
  return (receiver: ThreadReceiver) => {
    const worker = new Worker(programFile(program), { trackUnmanagedFds: false });
    worker.unref();
    let isEnding = false;
    let cause: unknown = new Error(`the thread ${program} ended`);
    worker.on('message', (message: FromThread) => receiver.received(message));
    worker.on('error', (error) => {
      cause = error;
    });
    // Always the last event. A thread that follows an error must not start before this one has ended.
    worker.on('exit', () => isEnding || receiver.broken(cause));
    return {
      send: (message) => worker.postMessage(message),
      end: () => {
        isEnding = true;
        return worker.terminate();
      },
    };
  };
}
