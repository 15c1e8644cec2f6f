import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Fault, isFault } from '../../model/fault.ts';
import type { JobAnswer, JobOrder, Thread } from './job.ts';
import { maxPerUser, maxThreads, Threads } from './threads.ts';

/** A thread whose job ends when the test says so. */
class FakeThread implements Thread {
  finish: (answer: JobAnswer) => void = () => {};
  break: (error: Error) => void = () => {};
  readonly calls: string[] = [];
  order: JobOrder | null = null;
  hasEnded = false;

  ask(order: JobOrder): Promise<JobAnswer> {
    this.order = order;
    return new Promise((resolve, reject) => {
      this.finish = resolve;
      this.break = reject;
    });
  }

  cancel(): void {
    this.calls.push('cancel');
  }

  async end(): Promise<void> {
    this.calls.push('end');
    this.hasEnded = true;
    this.break(new Fault('internal', 'a thread of the daemon ended unexpectedly'));
  }
}

let opened: FakeThread[];
let threads: Threads;
const begun = () => opened.filter(({ order }) => order !== null).length;
const run = (user: string, more: { sandbox?: string; signal?: AbortSignal } = {}) => {
  const job = threads.run({ user, ...more }, 'copyTree', user, 'to');
  job.catch(() => {});
  return job;
};
const working = () => opened.map(({ order }) => order?.args[0]);

beforeEach(() => {
  opened = [];
  threads = new Threads({ scratch: '', installation: '' }, () => {
    const thread = new FakeThread();
    opened.push(thread);
    return thread;
  });
});
afterEach(() => vi.useRealTimers());

describe('users', () => {
  it('cannot use all threads, so the job of another user begins at once', async () => {
    for (let count = 0; count < 5; count += 1) run('ann');
    expect(begun()).toBe(maxPerUser);
    run('bob');
    expect(working()).toEqual(['ann', 'ann', 'bob']);
    expect(opened.length).toBe(maxThreads);
  });

  it('take turns, however many jobs one of them has waiting', async () => {
    for (let count = 0; count < 5; count += 1) run('ann');
    run('bob');
    run('bob');
    run('eve');
    opened[0]!.finish({ value: null });
    await turn();
    // Eve has no running job, so hers is next, although ann and bob have waited longer.
    expect(working()).toEqual(['eve', 'ann', 'bob']);
    expect(opened.length).toBe(maxThreads);
  });
});

describe('a job', () => {
  it('that waits is cancelled with its signal, and never begins', async () => {
    const client = new AbortController();
    for (let count = 0; count < maxPerUser; count += 1) run('ann');
    const job = run('ann', { signal: client.signal });
    client.abort();
    await expect(job).rejects.toSatisfy((error) => isFault(error, 'cancelled'));
    opened[0]!.finish({ value: null });
    await turn();
    expect(opened[0]!.calls).toEqual([]);
  });

  it('is cancelled with its signal, with its sandbox and with the daemon', async () => {
    const client = new AbortController();
    run('ann', { signal: client.signal });
    run('ann', { sandbox: 'box' });
    run('bob');
    client.abort();
    threads.cancel('box');
    expect(opened.map(({ calls }) => calls)).toEqual([['cancel'], ['cancel'], []]);
    const over = threads.dispose();
    for (const thread of opened) thread.finish({ fault: new Fault('cancelled', 'x').toJSON() });
    await over;
    expect(opened[2]!.calls).toEqual(['cancel', 'end']);
    await expect(run('eve')).rejects.toSatisfy((error) => isFault(error, 'cancelled'));
  });

  it('takes the thread that worked last, whether its job was short or long', async () => {
    void threads.run({ user: 'ann' }, 'detectAt', 'project', 'base');
    run('ann');
    opened[0]!.finish({ value: null });
    await turn();
    run('ann');
    expect(opened.length).toBe(2);
    expect(opened[0]!.order?.name).toBe('copyTree');
  });

  it('that does not notice in time ends with its thread', async () => {
    vi.useFakeTimers();
    const job = run('ann', { sandbox: 'box' });
    threads.cancel('box');
    vi.advanceTimersByTime(4999);
    expect(opened[0]!.calls).toEqual(['cancel']);
    vi.advanceTimersByTime(1);
    await expect(job).rejects.toSatisfy((error) => isFault(error, 'cancelled'));
    expect(opened[0]!.calls).toContain('end');
    run('ann');
    expect(opened.length).toBe(2);
  });
});
