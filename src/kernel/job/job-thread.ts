/** The program of a thread: does one job after another, by name. */
import { parentPort, workerData } from 'node:worker_threads';
import { setScratch } from '../../lib/file/scratch.ts';
import { cancelled, endWaits, isCancelled, setCancelFlag } from '../../lib/flow/cancel.ts';
import { asFault } from '../../model/fault.ts';
import { jobs } from '../../noun/jobs.ts';
import type { JobAnswer, JobOrder, ThreadMessage, WorkerData } from './job.ts';

const { scratch, installation, cancel } = workerData as WorkerData;
setScratch(scratch, installation);
setCancelFlag(cancel);

parentPort?.on('message', async (message: ThreadMessage) => {
  // Loops check the flag; a job that waits for git does not.
  if (message === 'cancel') endWaits();
  else post(await answer(message));
});

async function answer({ name, args }: JobOrder): Promise<JobAnswer> {
  try {
    return { value: await (jobs[name] as (...args: unknown[]) => unknown)(...args) };
  } catch (error) {
    return { fault: (isCancelled() ? cancelled() : asFault(error)).toJSON() };
  }
}

/** Bytes in memory of their own are transferred, not copied. */
function post(given: JobAnswer): void {
  const values: unknown[] = 'value' in given ? Object.values((given.value ?? {}) as object) : [];
  const own = values.filter((one) => one instanceof Uint8Array && one.byteLength === one.buffer.byteLength);
  parentPort?.postMessage(
    given,
    own.map((one) => (one as Uint8Array<ArrayBuffer>).buffer),
  );
}
