/** What runs in a thread: one job after another, by name. */
import { parentPort, workerData } from 'node:worker_threads';
import { asFault } from '../model/fault.ts';
import { setScratch } from '../workspace/scratch.ts';
import { jobs } from './jobs.ts';
import type { JobAnswer, ThreadData } from './threads.ts';

const { scratch, installation } = workerData as ThreadData;
setScratch(scratch, installation);

parentPort?.on('message', async ({ name, args }: { name: keyof typeof jobs; args: never[] }) => {
  parentPort?.postMessage(await answer(name, args));
});

async function answer(name: keyof typeof jobs, args: never[]): Promise<JobAnswer> {
  try {
    return { value: await (jobs[name] as (...args: never[]) => unknown)(...args) };
  } catch (error) {
    return { fault: asFault(error).toJSON() };
  }
}
