/**
 * The threads of the daemon, and which job is next. Short and long jobs have their own limits and share the idle
 * threads: one that just looked at a working copy is ready for its review.
 */

import { Worker } from 'node:worker_threads';
import { programFile } from '../../lib/file/package.ts';
import { cancelled } from '../../lib/flow/cancel.ts';
import { Fault } from '../../model/fault.ts';
import type {
  JobAnswer,
  JobArgs,
  JobName,
  JobOrder,
  JobOwner,
  JobResult,
  Thread,
  ThreadData,
  ThreadMessage,
  WorkerData,
} from './job.ts';

/** Short jobs that something waits for, such as the end of a sandbox. They never wait for a long job. */
const short: readonly JobName[] = [
  ...(['keepBases', 'countChanges', 'countChangesAt', 'readAgentTips'] as const),
  ...(['detectAt', 'writeStateFile'] as const),
];
export const maxThreads = 3;
export const maxPerUser = 2;
/**
 * A job that does not notice its cancellation within this time loses its thread. Loops that check the flag notice
 * sooner.
 */
const noticeMs = 5000;

export class Threads {
  readonly #forShort: Pool;
  readonly #forLong: Pool;
  readonly #idle: IdleThreads;

  constructor(data: ThreadData, open = openThread) {
    this.#idle = new IdleThreads(() => open(data));
    this.#forShort = new Pool(this.#idle);
    this.#forLong = new Pool(this.#idle);
  }

  async run<K extends JobName>(owner: JobOwner, name: K, ...args: JobArgs<K>): Promise<JobResult<K>> {
    const pool = short.includes(name) ? this.#forShort : this.#forLong;
    const answer = await pool.run(owner, { name, args });
    if ('fault' in answer) throw Fault.from(answer.fault);
    return answer.value as JobResult<K>;
  }

  /** Cancels the jobs that read this sandbox. */
  cancel(sandbox: string): void {
    for (const pool of [this.#forShort, this.#forLong]) pool.cancel((job) => job.owner.sandbox === sandbox);
  }

  /** Cancels all jobs, and ends all threads. */
  async dispose(): Promise<void> {
    await Promise.all([this.#forShort.dispose(), this.#forLong.dispose()]);
    await this.#idle.dispose();
  }
}

interface Job {
  readonly owner: JobOwner;
  readonly order: JobOrder;
  readonly settle: (answer: JobAnswer | Promise<JobAnswer>) => void;
  readonly settled: Promise<JobAnswer>;
  /** Null: the job waits for its turn, or has lost its thread. */
  thread: Thread | null;
}

class Pool {
  readonly #idle: IdleThreads;
  readonly #waiting: Job[] = [];
  readonly #running = new Set<Job>();
  #isOver = false;

  constructor(idle: IdleThreads) {
    this.#idle = idle;
  }

  async run(owner: JobOwner, order: JobOrder): Promise<JobAnswer> {
    if (this.#isOver || owner.signal?.aborted) throw cancelled();
    const job = newJob(owner, order);
    const stop = () => this.cancel((one) => one === job);
    owner.signal?.addEventListener('abort', stop, { once: true });
    this.#waiting.push(job);
    this.#begin();
    try {
      return await job.settled;
    } finally {
      owner.signal?.removeEventListener('abort', stop);
    }
  }

  cancel(isMeant: (job: Job) => boolean): void {
    for (const job of this.#waiting.filter(isMeant)) {
      this.#waiting.splice(this.#waiting.indexOf(job), 1);
      job.settle(Promise.reject(cancelled()));
    }
    for (const job of this.#running) if (isMeant(job)) interrupt(job);
  }

  async dispose(): Promise<void> {
    this.#isOver = true;
    const running = [...this.#running];
    this.cancel(() => true);
    await Promise.allSettled(running.map(({ settled }) => settled));
  }

  #begin(): void {
    for (let job = this.#next(); job !== null; job = this.#next()) {
      job.thread = this.#idle.take();
      this.#running.add(job);
      job.settle(this.#do(job, job.thread));
    }
  }

  /** The first waiting job of the user with the fewest running jobs; null: no job can begin. */
  #next(): Job | null {
    if (this.#running.size >= maxThreads) return null;
    const load = ({ owner }: Job) => [...this.#running].filter((one) => one.owner.user === owner.user).length;
    const [first] = this.#waiting
      .map((job) => ({ job, load: load(job) }))
      .filter((one) => one.load < maxPerUser)
      .sort((one, other) => one.load - other.load);
    if (first === undefined) return null;
    this.#waiting.splice(this.#waiting.indexOf(first.job), 1);
    return first.job;
  }

  async #do(job: Job, thread: Thread): Promise<JobAnswer> {
    try {
      const answer = await thread.ask(job.order);
      this.#idle.rest(thread);
      return answer;
    } catch (error) {
      // The thread broke, or was ended because its job did not notice that it was cancelled.
      await thread.end();
      throw job.thread === null ? cancelled() : error;
    } finally {
      this.#running.delete(job);
      this.#begin();
    }
  }
}

function newJob(owner: JobOwner, order: JobOrder): Job {
  let settle: Job['settle'] = () => {};
  const settled = new Promise<JobAnswer>((resolve) => {
    settle = resolve;
  });
  return { owner, order, settle, settled, thread: null };
}

function interrupt(job: Job): void {
  const { thread } = job;
  if (thread === null) return;
  thread.cancel();
  const late = setTimeout(() => {
    job.thread = null;
    void thread.end();
  }, noticeMs);
  late.unref();
  const settled = () => clearTimeout(late);
  job.settled.then(settled, settled);
}

/** Threads without a job. The thread that worked last is taken first, because V8 has compiled most of what it runs. */
const idleMs = 20_000;

class IdleThreads {
  readonly #open: () => Thread;
  /** The idle threads, in the order in which they became idle. */
  readonly #timers = new Map<Thread, NodeJS.Timeout>();

  constructor(open: () => Thread) {
    this.#open = open;
  }

  take(): Thread {
    for (const last of [...this.#timers.keys()].reverse()) {
      this.#forget(last);
      if (!last.hasEnded) return last;
    }
    return this.#open();
  }

  rest(thread: Thread): void {
    const timer = setTimeout(() => {
      this.#forget(thread);
      void thread.end();
    }, idleMs);
    timer.unref();
    this.#timers.set(thread, timer);
  }

  async dispose(): Promise<void> {
    const threads = [...this.#timers.keys()];
    for (const thread of threads) this.#forget(thread);
    await Promise.all(threads.map((thread) => thread.end()));
  }

  #forget(thread: Thread): void {
    clearTimeout(this.#timers.get(thread));
    this.#timers.delete(thread);
  }
}

/** One thread of the daemon: a worker that does one job at a time. */
function openThread(data: ThreadData): Thread {
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
