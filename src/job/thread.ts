/** One thread of the daemon: a worker that does one job at a time. */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { dist } from '../lib/package.ts';
import { Fault, type FaultBody } from '../model/fault.ts';
import type { Jobs } from './jobs.ts';

export type JobName = keyof Jobs;

export interface Order {
  readonly name: JobName;
  readonly args: readonly unknown[];
}

/** What a thread is sent. */
export type ThreadMessage = Order | 'cancel';
export type JobAnswer = { readonly value: unknown } | { readonly fault: FaultBody };

/** What every thread gets when it begins. */
export interface ThreadData {
  readonly scratch: string;
  readonly installation: string;
}

export interface WorkerData extends ThreadData {
  /** Not zero: the job under way is cancelled. */
  readonly cancel: SharedArrayBuffer;
}

export interface Thread {
  /** Rejects when the thread broke; it is of no use then. */
  ask(order: Order): Promise<JobAnswer>;
  /** The job under way ends as soon as it notices. */
  cancel(): void;
  end(): Promise<unknown>;
}

export function openThread(data: ThreadData): Thread {
  const cancel = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const flag = new Int32Array(cancel);
  const worker = new Worker(join(dist, 'job/job-thread.js'), {
    // Descriptors of our own system calls are no concern of Node's.
    trackUnmanagedFds: false,
    // Reviews make much that is soon garbage; a larger nursery spares an eighth of their time.
    resourceLimits: { maxYoungGenerationSizeMb: 128 },
    workerData: { ...data, cancel } satisfies WorkerData,
  });
  worker.unref();
  return {
    ask: (order) => {
      Atomics.store(flag, 0, 0);
      return ask(worker, order);
    },
    cancel: () => {
      Atomics.store(flag, 0, 1);
      worker.postMessage('cancel' satisfies ThreadMessage);
    },
    end: () => worker.terminate(),
  };
}

function ask(worker: Worker, order: Order): Promise<JobAnswer> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      worker.off('message', answered).off('error', failed).off('exit', ended);
      worker.unref();
      act();
    };
    const answered = (answer: JobAnswer) => settle(() => resolve(answer));
    const failed = (error: Error) => settle(() => reject(error));
    const ended = () => settle(() => reject(new Fault('internal', 'a thread of the daemon ended unexpectedly')));
    worker.on('message', answered).on('error', failed).on('exit', ended);
    worker.ref();
    worker.postMessage(order);
  });
}
