/** Threads without a job. The thread that worked last is taken first, because V8 has compiled most of what it runs. */
import type { Thread } from './job.ts';

const idleMs = 20_000;

export class IdleThreads {
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
