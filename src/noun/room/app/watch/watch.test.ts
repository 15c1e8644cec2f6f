import { expect, test } from 'vitest';
import { createMemoryStore } from '../../../../../test/fakes/store/memory.ts';
import { Fault } from '../../../../model/fault.ts';
import { FakeRoom } from '../../fake.ts';
import { maxAttempts, maxChain, type RoomWatch } from '../../model/watch.ts';
import type { Room } from '../../room.ts';
import { Watcher, type WatcherParts } from './watch.ts';

const at = '2026-11-16T12:00:00.000Z';

type Act = WatcherParts['act'];

class Scene {
  readonly store = createMemoryStore();
  readonly board = new FakeRoom();
  readonly acted: string[] = [];
  watcher: Watcher | null = null;

  constructor(change: Partial<RoomWatch> = {}) {
    const value: RoomWatch = {
      ...{ room: 'r', who: 'bot', action: { kind: 'wake', argv: ['agent'] }, isForAll: false, createdAt: at },
      ...{ paused: null, position: null, delivery: null, handled: 0, failed: 0, wakes: [] },
      ...change,
    };
    const event = { at, type: 'room.watch', subject: 'bot', data: {} };
    this.store.insert({ kind: 'roomWatch', id: 'w', owner: 'ada', name: 'r/bot', value }, event);
  }

  get watch(): RoomWatch {
    return this.store.get('roomWatch', 'w')!.value;
  }

  start(act: Act): Watcher {
    let nowMs = 0;
    this.watcher = new Watcher('w', {
      store: this.store,
      open: async () => this.board as unknown as Room,
      act: async (watch, owner, message, signal) => {
        this.acted.push(message.id);
        return act(watch, owner, message, signal);
      },
      now: () => at,
      // Each call returns a time one minute later, so that no attempt waits.
      nowMs: () => (nowMs += 60_000),
      report: () => {},
    });
    return this.watcher;
  }

  /** Waits until the row of the watcher meets a condition. */
  async until(isSo: (watch: RoomWatch) => boolean): Promise<void> {
    if (isSo(this.watch)) return;
    await new Promise<void>((resolve) => {
      const stop = this.store.subscribe(() => {
        if (!isSo(this.watch)) return;
        stop();
        resolve();
      });
    });
  }

  change(change: Partial<RoomWatch>): void {
    const row = this.store.get('roomWatch', 'w')!;
    this.store.update(row, { ...row.value, ...change }, { at, type: 'room.watched', subject: 'bot', data: {} });
  }

  /** The id of a message; the first message has number 1. */
  id(number: number): string {
    return this.board.messages[number - 1]!.id;
  }

  say(body: string) {
    return this.board.post({ from: { kind: 'person', name: 'ada' }, via: 'cli', body });
  }

  async end(): Promise<void> {
    this.watcher!.end();
    await this.watcher!.ended;
  }
}

test('a watcher handles messages that mention it, in order, and posts the answers as replies', async () => {
  const scene = new Scene();
  await scene.say('@bot one');
  await scene.say('two');
  await scene.say('@bot three');
  scene.start(async (_watch, _owner, { body }) => `re: ${body.slice(5)}`);
  await scene.until(({ handled }) => handled === 2);
  expect(scene.acted).toEqual([scene.id(1), scene.id(3)]);
  expect(scene.board.messages.slice(3)).toMatchObject([
    { from: 'bot', via: 'watch', replyTo: scene.id(1), body: 're: one' },
    { from: 'bot', via: 'watch', replyTo: scene.id(3), body: 're: three' },
  ]);
  await scene.end();
});

test('a watcher of a scheme handles mentions below it, and none of its own messages', async () => {
  const scene = new Scene({ who: 'sms', isForAll: false });
  await scene.say('@sms:+4930 hello');
  await scene.board.post({ from: { kind: 'service', name: 'sms:+4930' }, via: 'webhook', body: '@sms hi' });
  await scene.say('@smsx hello');
  await scene.say('@all hello');
  scene.start(async () => null);
  await scene.until(({ handled }) => handled === 2);
  expect(scene.acted).toEqual([scene.id(1), scene.id(4)]);
  await scene.end();
});

test('a watcher for all messages handles each of them but its own', async () => {
  const scene = new Scene({ isForAll: true });
  await scene.say('one');
  await scene.say('two');
  scene.start(async () => 'answer');
  await scene.until(({ handled }) => handled === 2);
  expect(scene.acted).toEqual([scene.id(1), scene.id(2)]);
  await scene.end();
});

test('a failure is tried again, and a message that keeps failing goes to dead/ with the reason', async () => {
  const scene = new Scene();
  await scene.say('@bot one');
  await scene.say('@bot two');
  scene.start(async (_watch, _owner, { id }) => {
    if (id === scene.id(1)) throw new Fault('unavailable', 'the line is cut');
    return null;
  });
  await scene.until(({ handled }) => handled === 1);
  expect(scene.acted).toEqual([...Array(maxAttempts).fill(scene.id(1)), scene.id(2)]);
  expect(scene.board.refusals).toMatchObject([
    { name: `${scene.id(1)}-for-bot.md`, reason: expect.stringMatching('line is cut') },
  ]);
  expect(scene.watch).toMatchObject({ failed: 1, handled: 1, delivery: null, position: scene.id(2) });
  await scene.end();
});

test('after a restart the count of attempts continues, and messages that were posted during the restart are handled once', async () => {
  const scene = new Scene();
  await scene.say('@bot old');
  await scene.say('@bot failing');
  await scene.say('@bot new');
  scene.change({ position: scene.id(1), delivery: { id: scene.id(2), attempts: maxAttempts - 1 } });
  scene.start(async (_watch, _owner, { id }) => {
    if (id === scene.id(2)) throw new Fault('unavailable', 'no');
    return null;
  });
  await scene.until(({ handled }) => handled === 1);
  expect(scene.acted).toEqual([scene.id(2), scene.id(3)]);
  await scene.end();
});

test('watchers that answer each other are paused after a chain of answers', async () => {
  const scene = new Scene();
  const first = await scene.say('@bot begin');
  let last = first.id;
  for (let n = 0; n < maxChain; n += 1) {
    const from = { kind: 'sandbox' as const, name: 'other' };
    last = (await scene.board.post({ from, via: 'watch', body: n === maxChain - 1 ? '@bot' : 'x', replyTo: last })).id;
  }
  scene.start(async () => 'answer');
  await scene.until(({ paused }) => paused !== null);
  expect(scene.acted).toEqual([first.id]);
  expect(scene.watch.paused).toMatch('answered each other');
  expect(scene.board.messages.at(-1)!.body).toMatch('paused');
  await scene.watcher!.ended;
});

test('a watcher that is woken too often within an hour is paused', async () => {
  const scene = new Scene({ wakes: Array(60).fill('2026-11-16T11:30:00.000Z') });
  await scene.say('@bot one');
  scene.start(async () => null);
  await scene.until(({ paused }) => paused !== null);
  expect(scene.acted).toEqual([]);
  await scene.watcher!.ended;
});

test('the end of a watcher aborts its action, and the record keeps the message as not handled', async () => {
  const scene = new Scene();
  await scene.say('@bot one');
  let began = () => {};
  const beginning = new Promise<void>((resolve) => {
    began = resolve;
  });
  scene.start((_watch, _owner, _message, signal) => {
    began();
    return new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(new Fault('cancelled', 'end'))),
    );
  });
  await beginning;
  await scene.end();
  expect(scene.watch).toMatchObject({ handled: 0, delivery: { id: scene.id(1), attempts: 1 }, position: null });
});
