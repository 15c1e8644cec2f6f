/**
 * Objects in a thread of the daemon, such as open rooms, whose methods are called by messages.
 *
 *   open → (method)* → close
 *
 * Each object has a key, such as its folder. `thread-calls.ts` is the side of the daemon: it starts the thread with the
 * first call, and matches answers with calls. `thread-objects.ts` is the side of the thread, which has the objects. Calls begin in
 * the order in which they were made, and each is answered when it has finished. Arguments, results and what an object
 * sends by itself are plain data: they are copied.
 *
 * If the thread breaks, its calls that have no answer fail with `unavailable`, its objects are gone, and the next call
 * starts another thread, in which nothing is open yet. Messages of the thread that broke are ignored.
 */
import type { FaultBody } from '../../model/fault.ts';

export interface ThreadCall {
  readonly call: number;
  readonly key: string;
  /** `open`, `close`, `erase`, or a method of the object. */
  readonly method: string;
  readonly args: readonly unknown[];
}

export type FromThread =
  | { readonly call: number; readonly value: unknown }
  | { readonly call: number; readonly fault: FaultBody }
  /** An object sent this by itself. It arrives before the answers to later calls. */
  | { readonly key: string; readonly pushed: unknown };

export interface ThreadReceiver {
  received(message: FromThread): void;
  /** The thread has ended although `end` was not called. Called once, after everything that it sent. */
  broken(error: unknown): void;
}

export interface ThreadLink {
  send(message: ThreadCall): void;
  end(): Promise<unknown>;
}

export type StartThread = (receiver: ThreadReceiver) => ThreadLink;
