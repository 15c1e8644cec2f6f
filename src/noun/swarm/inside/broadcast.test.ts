import { expect, test } from 'vitest';
import { MessageReader } from '../model/message-line.ts';
import { type AdapterClock, Broadcast, beatMs } from './broadcast.ts';

/** A clock that the tests advance. */
class HandClock implements AdapterClock {
  wall = Date.UTC(2026, 0, 31, 12);
  #elapsed = 0;
  #calls: { at: number; call: () => void }[] = [];

  now = () => new Date(this.wall);
  elapsed = () => this.#elapsed;
  after = (ms: number, call: () => void) => {
    const one = { at: this.#elapsed + ms, call };
    this.#calls.push(one);
    return () => {
      this.#calls = this.#calls.filter((other) => other !== one);
    };
  };

  turn(ms: number): void {
    const end = this.#elapsed + ms;
    for (;;) {
      const [next] = this.#calls.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#calls = this.#calls.filter((other) => other !== next);
      this.#elapsed = next.at;
      next.call();
    }
    this.#elapsed = end;
  }
}

function open() {
  const clock = new HandClock();
  const broadcast = new Broadcast(
    { swarmId: '0e3b7f2c-5d1a-4c8e-9f00-1234567890ab', containerId: '0123456789ab' },
    clock,
  );
  return { clock, broadcast, ...listen(broadcast) };
}

function listen(broadcast: Broadcast) {
  const received: string[] = [];
  const state = { behind: false };
  const reader = new MessageReader();
  broadcast.add({
    isBehind: () => state.behind,
    write: (line) => {
      for (const read of reader.push(line)) {
        if ('flaw' in read) throw new Error(read.flaw.reason);
        const { type, payload } = read.message;
        received.push(type === 'progress-update' ? `${payload.storyId} ${payload.status} ${payload.output}` : type);
      }
    },
  });
  return { received, state };
}

test('output of a story is sent at most every two seconds, and only its last line', () => {
  const { clock, broadcast, received } = open();
  broadcast.status('US-001', 'in_progress', '');
  for (let n = 0; n < 1000; n++) {
    broadcast.output('US-001', () => String(n));
    clock.turn(10);
  }
  expect(received).toEqual([
    'US-001 in_progress ',
    ...['199', '399', '599', '799', '999'].map((word) => `US-001 in_progress ${word}`),
  ]);
});

test('a change of status is sent at once, and pending output is dropped', () => {
  const { clock, broadcast, received } = open();
  broadcast.status('US-001', 'in_progress', '');
  broadcast.output('US-001', () => 'almost');
  broadcast.status('US-001', 'failed', 'no');
  broadcast.status('US-001', 'in_progress', '');
  broadcast.status('US-001', 'completed', 'yes');
  clock.turn(60_000);
  expect(received).toEqual(['US-001 in_progress ', 'US-001 failed no', 'US-001 in_progress ', 'US-001 completed yes']);
});

test('the status of a story in progress is sent again at each heartbeat', () => {
  const { clock, broadcast, received } = open();
  broadcast.status('US-001', 'in_progress', '');
  clock.turn(3 * beatMs);
  expect(received).toEqual(Array(4).fill('US-001 in_progress '));
});

test('work of the adapter itself is sent as a heartbeat until it ends, and afterwards not to new listeners', () => {
  const { clock, broadcast, received } = open();
  const over = broadcast.busy('cloning');
  clock.turn(2 * beatMs);
  expect(received).toEqual(Array(3).fill('US-000 in_progress cloning'));
  expect(listen(broadcast).received).toEqual(['US-000 in_progress cloning']);
  over();
  broadcast.status('US-001', 'pending', '');
  clock.turn(10 * beatMs);
  expect(received.slice(3)).toEqual(['US-001 pending ']);
  expect(listen(broadcast).received).toEqual(['US-001 pending ']);
});

test('nothing is sent after the completion', () => {
  const { clock, broadcast, received } = open();
  const over = broadcast.busy('cloning');
  broadcast.status('US-001', 'in_progress', '');
  broadcast.completion({ status: 'stopped', prUrl: null, errors: [] });
  over();
  clock.turn(10 * beatMs);
  expect(received.at(-1)).toBe('completion');
});

test('a jump of the wall clock does not change when output is sent', () => {
  const { clock, broadcast, received } = open();
  broadcast.status('US-001', 'in_progress', '');
  clock.wall -= 86_400_000 * 365;
  broadcast.output('US-001', () => 'a');
  clock.turn(2000);
  clock.wall += 86_400_000 * 3650;
  broadcast.output('US-001', () => 'b');
  clock.turn(1999);
  expect(received).toEqual(['US-001 in_progress ', 'US-001 in_progress a']);
  clock.turn(1);
  expect(received.at(-1)).toBe('US-001 in_progress b');
});

test('a slow listener misses output but no status, no error and no completion', () => {
  const { clock, broadcast, received, state } = open();
  broadcast.status('US-001', 'in_progress', '');
  state.behind = true;
  clock.turn(5000);
  broadcast.output('US-001', () => 'lost');
  clock.turn(60_000);
  broadcast.status('US-001', 'completed', '');
  broadcast.error('UNKNOWN_ERROR', '');
  broadcast.completion({ status: 'completed', prUrl: null, errors: [] });
  expect(received).toEqual(['US-001 in_progress ', 'US-001 completed ', 'error', 'completion']);
});

test('a new listener gets the current status of every story', () => {
  const { broadcast } = open();
  broadcast.status('US-001', 'completed', 'one');
  broadcast.status('US-002', 'in_progress', '');
  broadcast.output('US-002', () => 'two');
  expect(listen(broadcast).received).toEqual(['US-001 completed one', 'US-002 in_progress two']);
  broadcast.completion({ status: 'failed', prUrl: null, errors: [] });
  expect(listen(broadcast).received.at(-1)).toBe('completion');
});

test('long and invalid text of an agent is cut to fit into a message', () => {
  const { broadcast, received } = open();
  broadcast.status('US-001', 'in_progress', '\u0000\ud800🎈'.repeat(100_000));
  broadcast.error('AGENT_CRASH', '\n'.repeat(100_000));
  expect(received).toHaveLength(2);
});
