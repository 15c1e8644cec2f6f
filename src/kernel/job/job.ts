/**
 * A job is slow work on files that a thread of the daemon does, because it would keep the daemon from answering.
 *
 * Life cycle: ordered (`Threads.run`) → waits for its turn → runs in a thread (`job-thread.ts`) → its result or its fault
 * is the answer. It is cancelled with the signal of its client, with the sandbox that it reads, and with the daemon: a
 * waiting job never begins, and a running one fails with `cancelled` as soon as it notices. One that does not notice
 * within five seconds loses its thread.
 *
 * Promises:
 * - `noun/jobs.ts` lists all jobs by name. Arguments and results are plain data.
 * - Short jobs that something waits for, such as the end of a sandbox, never wait for a long one.
 * - Users take turns, and no user has all threads at once. The next job is of the user with the fewest running jobs.
 * - A thread that broke is replaced, and its job fails. A thread without a job for a while ends.
 */
import type { FaultBody } from '../../model/fault.ts';
import type { Jobs } from '../../noun/jobs.ts';

/** The user of a job, and what cancels it. */
export interface JobOwner {
  readonly user: string;
  /** The sandbox that it reads and does not change. */
  readonly sandbox?: string;
  readonly signal?: AbortSignal | undefined;
}

export type JobName = keyof Jobs;

export type JobArgs<K extends JobName> = Parameters<Jobs[K]>;

export type JobResult<K extends JobName> = Awaited<ReturnType<Jobs[K]>>;

export interface JobOrder {
  readonly name: JobName;
  readonly args: readonly unknown[];
}

/** A message to a thread. */
export type ThreadMessage = JobOrder | 'cancel';

export type JobAnswer = { readonly value: unknown } | { readonly fault: FaultBody };

/** What every thread gets at its start. */
export interface ThreadData {
  readonly scratch: string;
  readonly installation: string;
}

export interface WorkerData extends ThreadData {
  /** Not zero: the running job is cancelled. */
  readonly cancel: SharedArrayBuffer;
}

export interface Thread {
  /** True: it broke, or was ended, and cannot be used any more. */
  readonly hasEnded: boolean;
  /** Rejects if the thread breaks. */
  ask(order: JobOrder): Promise<JobAnswer>;
  /** The running job ends as soon as it notices. */
  cancel(): void;
  end(): Promise<unknown>;
}
