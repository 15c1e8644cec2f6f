/** What the daemon and a thread of the memory send each other. */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { dist } from '../lib/package.ts';
import type { FaultBody } from '../model/fault.ts';
import type { MemoryLimits } from '../model/memory.ts';
import type { Memory } from './memory.ts';

export type ToThread =
  | { readonly call: number; readonly folder: string; readonly open: MemoryLimits; readonly check: boolean }
  | {
      readonly call: number;
      readonly folder: string;
      readonly method: keyof Memory;
      readonly args: readonly unknown[];
    };

export type FromThread =
  | { readonly call: number; readonly value: unknown }
  | { readonly call: number; readonly fault: FaultBody };

export interface Link {
  send(message: ToThread): void;
  end(): Promise<unknown>;
}

export interface Receiver {
  received(message: FromThread): void;
  /** The thread ended without being asked to. */
  broken(error: unknown): void;
}

/** It keeps no process alive by itself. */
export function startMemoryThread(receiver: Receiver): Link {
  const worker = new Worker(join(dist, 'memory/memory-thread.js'), { trackUnmanagedFds: false });
  worker.unref();
  let isAsked = false;
  worker.on('message', (message: FromThread) => receiver.received(message));
  worker.on('error', (error) => receiver.broken(error));
  worker.on('exit', () => isAsked || receiver.broken(new Error('a thread of the memory ended')));
  return {
    send: (message) => worker.postMessage(message),
    end: () => {
      isAsked = true;
      return worker.terminate();
    },
  };
}
