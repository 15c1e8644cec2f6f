import { describe, expect, it } from 'vitest';
import { defaultNetworkLimits, type NetworkLimits } from '../../model/network.ts';
import { Meter, type MeterClock } from './meter.ts';
import { Slots, TokenBucket } from './rate-limit.ts';

const MiB = 1024 * 1024;

/** Time passes when the test advances it. */
class TestClock implements MeterClock {
  now = 0;
  #timers: { readonly at: number; readonly act: () => void }[] = [];
  #turns: (() => void)[] = [];

  nowMs(): number {
    return this.now;
  }

  after(ms: number, act: () => void): void {
    this.#timers.push({ at: this.now + ms, act });
  }

  nextTurn(act: () => void): void {
    this.#turns.push(act);
  }

  turn(): void {
    for (const act of this.#turns.splice(0)) act();
  }

  pass(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const next = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#timers.splice(this.#timers.indexOf(next), 1);
      this.now = next.at;
      next.act();
    }
    this.now = end;
  }
}

function meter(limits: Partial<NetworkLimits> = {}, used = 0) {
  const clock = new TestClock();
  const spent: number[] = [];
  const made = new Meter({ ...defaultNetworkLimits, ...limits }, used, () => spent.push(made.totalBytes), clock);
  return { clock, meter: made, spent };
}

describe('a sandbox that is alone', () => {
  it('passes a part in each turn of the event loop and waits at most until the next turn', () => {
    const { meter: one, clock } = meter();
    let waiting = 0;
    expect(one.take(MiB, () => {})).toBe(false);
    expect(one.take(1, () => (waiting -= 1))).toBe(true);
    waiting += 1;
    clock.turn();
    expect(waiting).toBe(0);
    expect(one.take(MiB, () => {})).toBe(false);
  });

  it('with many connections resumes some of them in each turn, and all of them in the end', () => {
    const { meter: one, clock } = meter();
    let free = 0;
    one.take(MiB + 1, () => {});
    for (let at = 0; at < 99; at += 1) one.take(64 * 1024, () => (free += 1));
    clock.turn();
    expect(free).toBeLessThan(20);
    for (let at = 0; at < 10; at += 1) clock.turn();
    expect(free).toBe(99);
  });
});

describe('a limit on bytes a second', () => {
  it('is kept over time, whatever the chunks', () => {
    const rate = 10 * MiB;
    const { meter: one, clock } = meter({ bytesPerSecond: rate });
    let passed = 0;
    const read = () => {
      passed += 64 * 1024;
      if (!one.take(64 * 1024, read)) {
        clock.nextTurn(read);
      }
    };
    read();
    for (let ms = 0; ms < 5000; ms += 1) {
      clock.turn();
      clock.pass(1);
    }
    expect(passed / 5 / rate).toBeGreaterThan(0.9);
    expect(passed / 5 / rate).toBeLessThan(1.1);
  });

  it('that is lifted releases waiting readers', () => {
    const { meter: one } = meter({ bytesPerSecond: 1 });
    let free = 0;
    one.take(MiB, () => (free += 1));
    one.change(defaultNetworkLimits);
    expect(free).toBe(1);
  });
});

describe('a limit on total bytes', () => {
  it('counts bytes that were used before, and reports when it is used up', () => {
    const { meter: one, spent } = meter({ totalBytes: 100 }, 60);
    one.take(39, () => {});
    expect([one.isSpent, spent]).toEqual([false, []]);
    one.take(1, () => {});
    expect([one.isSpent, spent]).toEqual([true, [100]]);
  });
});

describe('a rate limit', () => {
  it('allows a burst at once, and then one after another', () => {
    const pace = new TokenBucket(10, 3, 0);
    expect([0, 0, 0, 0, 0].map(() => pace.takeMs(0))).toEqual([0, 0, 0, 100, 200]);
    expect(pace.takeMs(10_000)).toBe(0);
  });
});

describe('slots', () => {
  it('run a limited number of tasks at a time, in order', async () => {
    const slots = new Slots(2);
    const began: number[] = [];
    const ends: (() => void)[] = [];
    const task = (at: number) => () => {
      began.push(at);
      return new Promise<void>((resolve) => ends.push(resolve));
    };
    const all = [0, 1, 2, 3].map((at) => slots.run(task(at)));
    await Promise.resolve();
    expect(began).toEqual([0, 1]);
    ends[0]!();
    await all[0];
    await Promise.resolve();
    expect(began).toEqual([0, 1, 2]);
    ends[1]!();
    ends[2]!();
    await all[2];
    await Promise.resolve();
    ends[3]!();
    await Promise.all(all);
    expect(began).toEqual([0, 1, 2, 3]);
  });
});
