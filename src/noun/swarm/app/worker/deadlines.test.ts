import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { calm, WorkerSetup } from '../../../../../test/fixtures/worker-setup.ts';
import type { Store } from '../../../../kernel/store/store.ts';
import type { FakeActions, FakeAdapter } from './fake.ts';

let setup: WorkerSetup;
let store: Store;
let actions: FakeActions;
beforeEach(() => {
  setup = new WorkerSetup();
  ({ store, actions } = setup);
});

/** Fake timers, so that a machine that stalls for a moment does not miss a deadline. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Advances the timers until the work is done. */
async function passing<T>(work: Promise<T>): Promise<T> {
  let over = false;
  const done = work.finally(() => {
    over = true;
  });
  while (!over) await vi.advanceTimersByTimeAsync(1);
  return done;
}

const worked = (...given: Parameters<WorkerSetup['worked']>) => passing(setup.worked(...given));
const finishes = (adapter: FakeAdapter) => setup.finishes(adapter);

describe('a container', () => {
  test('fails and is stopped when its adapter is silent or takes too long', async () => {
    const silent = await worked((adapter) => adapter.progress('US-001', 'in_progress'), setup.added(), {
      ...calm,
      silenceMs: 30,
    });
    expect(silent.work?.reason).toBe('CONTAINER_TIMEOUT: no message for 0.03 s');
    expect(actions.calls).toContain('stop a');
    setup.forget();
    const chatty = (adapter: FakeAdapter) => {
      const timer = setInterval(() => {
        if (adapter.output.destroyed) clearInterval(timer);
        else adapter.progress('US-001', 'in_progress', String(Math.random()));
      }, 5);
    };
    const late = await worked(chatty, setup.added(), { taskMs: 60, silenceMs: 1000 });
    expect(late.work?.reason).toBe('CONTAINER_TIMEOUT: not done after 0.06 s');
  });

  test('fails and is stopped when its time is up during a connect', async () => {
    const connect = actions.connect.bind(actions);
    actions.connect = async (container) => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return connect(container);
    };
    const late = await worked(() => {}, setup.added(), { taskMs: 60, silenceMs: 2 ** 31 - 1 });
    expect(late.work?.reason).toBe('CONTAINER_TIMEOUT: not done after 0.06 s');
    expect(actions.calls).toContain('stop a');
  });
});

describe('a heartbeat', () => {
  const silenceMs = 200;
  /** Sends heartbeats for longer than an adapter may be silent, and then the completion. */
  const beats = (beat: (adapter: FakeAdapter) => void) => (adapter: FakeAdapter) => {
    let count = 0;
    const timer = setInterval(() => {
      beat(adapter);
      if (++count < 15) return;
      clearInterval(timer);
      finishes(adapter);
    }, silenceMs / 10);
  };

  test.each<[string, (adapter: FakeAdapter) => void]>([
    ['of a story in progress', (adapter) => adapter.progress('US-001', 'in_progress')],
    ['of a clone, which is none of its stories', (adapter) => adapter.progress('US-000', 'in_progress', 'cloning')],
  ])('%s counts as a message, and is not written to the store', async (_, beat) => {
    let writes = 0;
    store.subscribe(({ type }) => {
      if (type === 'swarm.progress') writes++;
    });
    const ended = await worked(beats(beat), setup.added(), { ...calm, silenceMs });
    expect(ended).toMatchObject({ status: 'completed', storyProgress: { total: 2 } });
    expect(Object.keys(ended.work!.stories)).toEqual(['US-001', 'US-002']);
    expect(writes).toBeLessThan(5);
  });

  test('with the ids of another container does not count', async () => {
    const ids = { swarmId: '0e3b7f2c-5d1a-4c8e-9f00-1234567890ab', containerId: '0123456789abcdef' };
    const payload = { storyId: 'US-001', status: 'in_progress', output: '' } as const;
    const foreign = beats((adapter) => {
      if (!adapter.output.destroyed) adapter.say({ type: 'progress-update', payload }, ids);
    });
    const ended = await worked(foreign, setup.added(), { ...calm, silenceMs });
    expect(ended.work?.reason).toContain('CONTAINER_TIMEOUT');
  });
});
