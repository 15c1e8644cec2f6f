/**
 * Work on files that would keep the daemon from answering, in threads of its own. Each thread does one job at a time;
 * one that has had nothing to do for a while ends.
 */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { dist } from '../lib/package.ts';
import { Fault, type FaultBody } from '../model/fault.ts';
import type { Jobs } from './jobs.ts';

export type JobName = keyof Jobs;
export type JobArgs<K extends JobName> = Parameters<Jobs[K]>;
export type JobResult<K extends JobName> = Awaited<ReturnType<Jobs[K]>>;

/** What every thread is told when it begins. */
export interface ThreadData {
  readonly scratch: string;
  readonly installation: string;
}

export type JobAnswer = { readonly value: unknown } | { readonly fault: FaultBody };

/** Short, and somebody waits for them: the end of a sandbox, say. They never wait for a long one. */
const short: readonly JobName[] = ['keepBases', 'listChanges', 'readAgentTips'];
const maxThreads = 2;
const idleMs = 20_000;

interface Thread {
  readonly worker: Worker;
  timer: NodeJS.Timeout | undefined;
}

export class Threads {
  readonly #forShort: Pool;
  readonly #forLong: Pool;

  constructor(data: ThreadData) {
    this.#forShort = new Pool(data);
    this.#forLong = new Pool(data);
  }

  run<K extends JobName>(name: K, ...args: JobArgs<K>): Promise<JobResult<K>> {
    return (short.includes(name) ? this.#forShort : this.#forLong).run(name, ...args);
  }

  async dispose(): Promise<void> {
    await Promise.all([this.#forShort.dispose(), this.#forLong.dispose()]);
  }
}

class Pool {
  readonly #data: ThreadData;
  readonly #idle: Thread[] = [];
  readonly #waiting: ((thread: Thread) => void)[] = [];
  #count = 0;

  constructor(data: ThreadData) {
    this.#data = data;
  }

  async run<K extends JobName>(name: K, ...args: JobArgs<K>): Promise<JobResult<K>> {
    const thread = await this.#take();
    const answer = await ask(thread.worker, { name, args }).catch((error: unknown) => {
      this.#drop(thread);
      throw error;
    });
    this.#give(thread);
    if ('fault' in answer) throw Fault.from(answer.fault);
    return answer.value as JobResult<K>;
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((thread) => this.#end(thread)));
  }

  #take(): Thread | Promise<Thread> {
    const idle = this.#idle.pop();
    if (idle) {
      clearTimeout(idle.timer);
      return idle;
    }
    if (this.#count >= maxThreads) return new Promise((resolve) => this.#waiting.push(resolve));
    // Descriptors of our own system calls are no concern of Node's.
    const worker = new Worker(join(dist, 'daemon/job-thread.js'), {
      trackUnmanagedFds: false,
      // Reviews make much that is soon garbage; a larger nursery spares an eighth of their time.
      resourceLimits: { maxYoungGenerationSizeMb: 128 },
      workerData: this.#data,
    });
    worker.unref();
    this.#count += 1;
    return { worker, timer: undefined };
  }

  #give(thread: Thread): void {
    const next = this.#waiting.shift();
    if (next) {
      next(thread);
      return;
    }
    thread.timer = setTimeout(() => {
      this.#idle.splice(this.#idle.indexOf(thread), 1);
      void this.#end(thread);
    }, idleMs);
    thread.timer.unref();
    this.#idle.push(thread);
  }

  /** It broke; whoever waits gets a new one. */
  #drop(thread: Thread): void {
    void this.#end(thread);
    const next = this.#waiting.shift();
    if (next) void Promise.resolve(this.#take()).then(next);
  }

  async #end(thread: Thread): Promise<void> {
    clearTimeout(thread.timer);
    this.#count -= 1;
    await thread.worker.terminate();
  }
}

function ask(worker: Worker, job: { name: JobName; args: unknown[] }): Promise<JobAnswer> {
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
    worker.postMessage(job);
  });
}
