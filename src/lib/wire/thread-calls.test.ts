import { expect, test } from 'vitest';
import { asFault, Fault } from '../../model/fault.ts';
import { ThreadCalls } from './thread-calls.ts';
import type { StartThread, ThreadCall, ThreadReceiver } from './thread-link.ts';
import { type ThreadObjectKind, withoutThread } from './thread-objects.ts';

interface Counter {
  add(step: number): Promise<number>;
  fail(): Promise<never>;
  odd(): Promise<unknown>;
  close(): Promise<void>;
}

/** Counters, and what happened to them. */
function counters(seen: string[] = []) {
  return (): ThreadObjectKind<Counter> => ({
    open(key, [first]: readonly [number], push) {
      let count = first;
      const add = async (step: number) => {
        count += step;
        push({ count });
        return count;
      };
      const fail = () => Promise.reject(new Error('broken'));
      const odd = async () => () => 1;
      return { add, fail, odd, close: async () => void seen.push(`close ${key}`) };
    },
    opened: () => 'opened',
    erase: (key) => void seen.push(`erase ${key}`),
    notOpen: (key) => new Fault('not_found', `${key} is not open`),
    faultOf: (key, error) =>
      error instanceof Fault ? error : new Fault('corrupt', `${key}: ${asFault(error).message}`),
    dispose: () => void seen.push('dispose'),
  });
}

const calls = (start: StartThread, pushed?: (key: string, message: unknown) => void) =>
  new ThreadCalls({ name: 'the thread', start, ...(pushed && { pushed }) });

/** A thread that answers when the test says so. */
function silent() {
  const sent: ThreadCall[] = [];
  const receivers: ThreadReceiver[] = [];
  const start: StartThread = (receiver) => {
    receivers.push(receiver);
    return { send: (message) => sent.push(message), end: async () => {} };
  };
  return { sent, receivers, thread: calls(start) };
}

test('an object is opened once, called by its methods, and is gone when it was closed', async () => {
  const seen: string[] = [];
  const thread = calls(withoutThread(counters(seen)));
  expect(await thread.call('a', 'open', 1)).toBe('opened');
  expect(await thread.call('a', 'open', 100)).toBe('opened');
  const { add } = thread.remote<Counter, 'add'>('a', ['add']);
  expect(await Promise.all([add(1), add(2), add(3)])).toEqual([2, 4, 7]);
  await thread.call('a', 'close');
  await expect(add(1)).rejects.toMatchObject({ code: 'not_found', message: 'a is not open' });
  await thread.call('b', 'open', 1);
  await thread.call('b', 'erase');
  await thread.call('c', 'open', 1);
  await thread.end();
  expect(seen).toEqual(['close a', 'close b', 'erase b', 'close c', 'dispose']);
});

test('what an object sends by itself arrives before the answers to later calls', async () => {
  const order: unknown[] = [];
  const thread = calls(withoutThread(counters()), (key, message) => order.push(key, message));
  await thread.call('a', 'open', 1);
  order.push(await thread.call('a', 'add', 1));
  expect(order).toEqual(['a', { count: 2 }, 2]);
});

test('an error arrives as the fault that the kind of object makes of it', async () => {
  const thread = calls(withoutThread(counters()));
  await thread.call('a', 'open', 1);
  const { fail } = thread.remote<Counter, 'fail'>('a', ['fail'], (error) => Promise.reject(['seen', error]));
  await expect(fail()).rejects.toMatchObject(['seen', { code: 'corrupt', message: 'a: broken' }]);
});

test('what cannot be copied is refused, and leaves no call that waits', async () => {
  const thread = calls(withoutThread(counters()));
  await expect(thread.call('a', 'open', () => 1)).rejects.toThrow('could not be cloned');
  await thread.call('a', 'open', 1);
  await expect(thread.call('a', 'odd')).rejects.toThrow('could not be cloned');
  expect(thread.waiting).toBe(0);
});

test('a thread that broke is replaced: its calls fail, and its late answers are ignored', async () => {
  const { thread, sent, receivers } = silent();
  const lost = [thread.call('a', 'add', 1), thread.call('a', 'add', 2)];
  receivers[0]!.broken(new Error('out of memory'));
  for (const one of lost)
    await expect(one).rejects.toMatchObject({ code: 'unavailable', cause: new Error('out of memory') });
  const next = thread.call('a', 'add', 3);
  expect(receivers).toHaveLength(2);
  receivers[0]!.received({ call: sent[2]!.call, value: 'late' });
  receivers[0]!.broken(new Error('again'));
  receivers[1]!.received({ call: sent[2]!.call, value: 'right' });
  expect(await next).toBe('right');
});

test('calls without an answer fail when the thread is ended', async () => {
  const { thread } = silent();
  const open = thread.call('a', 'open');
  const failed = expect(open).rejects.toMatchObject({ code: 'unavailable' });
  await thread.end();
  await failed;
});
