/** One thread of the daemon: a worker that does one job at a time. */

import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { dist } from '../lib/package.ts';
import { Fault } from '../model/fault.ts';
import type { JobAnswer, JobOrder, Thread, ThreadData, ThreadMessage, WorkerData } from './job.ts';

export function openThread(data: ThreadData): Thread {
  const cancel = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const flag = new Int32Array(cancel);
  const worker = new Worker(join(dist, 'job/job-thread.js'), {
    // Node must not track the file descriptors that our own system calls open.
    trackUnmanagedFds: false,
    // Reviews make much short-lived garbage; a larger young generation saves an eighth of their time.
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

function ask(worker: Worker, order: JobOrder): Promise<JobAnswer> {
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
