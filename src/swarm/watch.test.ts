import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { calm, WorkerGround } from '../../test/fixtures/worker-ground.ts';
import type { Store } from '../store/store.ts';
import type { FakeAdapter, FakeSurface } from './fake.ts';

let ground: WorkerGround;
let store: Store;
let surface: FakeSurface;
beforeEach(() => {
  ground = new WorkerGround();
  ({ store, surface } = ground);
});

/** The clock of deadlines is the test's: a machine that stands still for a moment is not silent. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** What comes of it, as time goes by. */
async function passing<T>(work: Promise<T>): Promise<T> {
  let over = false;
  const done = work.finally(() => {
    over = true;
  });
  while (!over) await vi.advanceTimersByTimeAsync(1);
  return done;
}

const worked = (...given: Parameters<WorkerGround['worked']>) => passing(ground.worked(...given));
const finishes = (adapter: FakeAdapter) => ground.finishes(adapter);

describe('a container has failed', () => {
  test('when it is silent, or takes too long, and is stopped then', async () => {
    const silent = await worked((adapter) => adapter.progress('US-001', 'in_progress'), ground.added(), {
      ...calm,
      silenceMs: 30,
    });
    expect(silent.work?.reason).toBe('CONTAINER_TIMEOUT: not a word for 0.03 s');
    expect(surface.calls).toContain('stop a');
    ground.forget();
    const chatty = (adapter: FakeAdapter) => {
      const timer = setInterval(() => {
        if (adapter.output.destroyed) clearInterval(timer);
        else adapter.progress('US-001', 'in_progress', String(Math.random()));
      }, 5);
    };
    const late = await worked(chatty, ground.added(), { taskMs: 60, silenceMs: 1000 });
    expect(late.work?.reason).toBe('CONTAINER_TIMEOUT: not done after 0.06 s');
  });

  test('that takes too long while somebody is being connected to it', async () => {
    const connect = surface.connect.bind(surface);
    surface.connect = async (container) => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return connect(container);
    };
    const late = await worked(() => {}, ground.added(), { taskMs: 60, silenceMs: 2 ** 31 - 1 });
    expect(late.work?.reason).toBe('CONTAINER_TIMEOUT: not done after 0.06 s');
    expect(surface.calls).toContain('stop a');
  });
});

describe('a heartbeat', () => {
  const silenceMs = 200;
  /** Says it every so often, and what follows once it has done so for longer than anybody may be silent. */
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
  ])('%s is no silence, and nothing is written down for it', async (_, beat) => {
    let writes = 0;
    store.subscribe(({ type }) => {
      if (type === 'swarm.progress') writes++;
    });
    const ended = await worked(beats(beat), ground.added(), { ...calm, silenceMs });
    expect(ended).toMatchObject({ status: 'completed', storyProgress: { total: 2 } });
    expect(Object.keys(ended.work!.stories)).toEqual(['US-001', 'US-002']);
    expect(writes).toBeLessThan(5);
  });

  test('with the ids of another container is silence', async () => {
    const ids = { swarmId: '0e3b7f2c-5d1a-4c8e-9f00-1234567890ab', containerId: '0123456789abcdef' };
    const payload = { storyId: 'US-001', status: 'in_progress', output: '' } as const;
    const foreign = beats((adapter) => {
      if (!adapter.output.destroyed) adapter.say({ type: 'progress-update', payload }, ids);
    });
    const ended = await worked(foreign, ground.added(), { ...calm, silenceMs });
    expect(ended.work?.reason).toContain('CONTAINER_TIMEOUT');
  });
});
