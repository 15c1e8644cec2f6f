/** One thread of the daemon: a worker that does one job at a time. */

import { Worker } from 'node:worker_threads';
import { programFile } from '../../lib/file/package.ts';
import { Fault } from '../../model/fault.ts';
import type { JobAnswer, Thread, ThreadData, ThreadMessage, WorkerData } from './job.ts';

export function openThread(data: ThreadData): Thread {
  const cancel = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const flag = new Int32Array(cancel);
  const worker = new Worker(programFile('job-thread'), {
    // Node must not track the file descriptors that our own system calls open.
    trackUnmanagedFds: false,
    // Reviews make much short-lived garbage; a larger young generation saves an eighth of their time.
    resourceLimits: { maxYoungGenerationSizeMb: 128 },
    workerData: { ...data, cancel } satisfies WorkerData,
  });
  worker.unref();
  let hasEnded = false;
  let failed: (error: unknown) => void = () => {};
  let cause: unknown = new Fault('internal', 'a thread of the daemon ended unexpectedly');
  // A thread can break while it is idle, too, and an error without a listener would end the daemon.
  worker.on('error', (error) => {
    cause = error;
  });
  worker.once('exit', () => {
    hasEnded = true;
    failed(cause);
  });
  return {
    get hasEnded() {
      return hasEnded;
    },
    ask: (order) =>
      new Promise((resolve, reject) => {
        if (hasEnded) return reject(cause);
        failed = reject;
        worker.once('message', (answer: JobAnswer) => {
          worker.unref();
          resolve(answer);
        });
        Atomics.store(flag, 0, 0);
        worker.ref();
        worker.postMessage(order);
      }),
    cancel: () => {
      Atomics.store(flag, 0, 1);
      worker.postMessage('cancel' satisfies ThreadMessage);
    },
    end: () => worker.terminate(),
  };
}
