import { beforeEach, describe, expect, test } from 'vitest';
import { exited, now, WorkerGround } from '../../test/fixtures/worker-ground.ts';
import { Fault } from '../model/fault.ts';
import type { ObservedContainer } from '../model/swarm.ts';
import type { Store } from '../store/store.ts';
import { away, type FakeAdapter, type FakeSurface } from './fake.ts';
import type { SwarmState } from './state.ts';

let ground: WorkerGround;
let store: Store;
let state: SwarmState;
let surface: FakeSurface;
beforeEach(() => {
  ground = new WorkerGround();
  ({ store, state, surface } = ground);
});

const finishes = (adapter: FakeAdapter) => ground.finishes(adapter);

describe('a container is completed', () => {
  test('by what its adapter says, with its commits fetched and its stories in the task file', async () => {
    surface.tips = [{ ref: 'refs/carrel/a/heads/b', commit: 'c', subject: 's', ahead: 2 }];
    const ended = await ground.worked(finishes);
    expect(ended).toMatchObject({ status: 'completed', storyProgress: { total: 2, completed: 2 } });
    expect(ended.work).toMatchObject({ reason: null, tips: surface.tips, startedAt: now() });
    const pids = surface.notes.map(({ status, acpPid }) => `${status} ${acpPid}`);
    expect([new Set(pids), ended.acpPid]).toEqual([new Set(['running 42']), null]);
    expect(surface.notes.at(-1)?.work?.stories['US-002']).toEqual({ status: 'completed', output: 'done' });
    const order = surface.calls.filter((call) => /^(begin|connect|ended|fetch)/.test(call));
    expect(order).toEqual(['begin a', 'connect a', 'ended a', 'fetch a']);
  });

  test('by its record, when the line broke before the last words', async () => {
    const container = ground.added();
    const ended = await ground.worked((adapter) => {
      surface.become('a', exited(0));
      surface.records.set('a', { outcome: ground.outcome(), digest: 'new' });
      adapter.output.end();
    }, container);
    expect(ended).toMatchObject({ status: 'completed', storyProgress: { completed: 2 } });
  });

  test('also when it was killed after its last words', async () => {
    const ended = await ground.worked((adapter) => {
      finishes(adapter);
      surface.become('a', exited(137, { signal: 'SIGKILL' }));
    });
    expect(ended.status).toBe('completed');
  });

  test('after a line that broke while the adapter lived: it is asked again and not failed', async () => {
    let connections = 0;
    const asked: unknown[] = [];
    const ended = await ground.worked((adapter) => {
      connections++;
      setImmediate(() => asked.push(...adapter.asked));
      if (connections === 1) adapter.output.destroy(new Error('broken'));
      else if (connections === 2) adapter.output.end();
      else finishes(adapter);
    });
    expect(ended.status).toBe('completed');
    expect(connections).toBe(3);
    expect(asked.map((message) => (message as { type: string }).type)).toContain('task-request');
    const lost = ['broken', 'the line ended'].map((why) => `ACP_CONNECTION_LOST: ${why}, and is made again`);
    expect(ended.work?.errors).toEqual(lost);
  });

  test('after a line that broke with its engine, which is told of although the agent was done when it came back', async () => {
    surface.faults.set('observe', away);
    const ended = await ground.worked((adapter) => {
      surface.become('a', exited(0));
      surface.records.set('a', { outcome: ground.outcome(), digest: 'new' });
      adapter.output.destroy(new Error('broken'));
    });
    expect(ended.status).toBe('completed');
    expect(ended.work?.errors).toEqual(['ACP_CONNECTION_LOST: broken, and is made again']);
  });

  test('although the task file cannot be changed, which is told', async () => {
    surface.note = async () => {
      throw new Fault('not_found', 'the file is gone');
    };
    const ended = await ground.worked(finishes);
    expect(ended.status).toBe('completed');
    expect(ended.work?.errors).toEqual(['the task file was not changed: the file is gone']);
  });

  test('and stopped, should it not end by itself', async () => {
    await ground.worked((adapter) => {
      finishes(adapter);
      surface.become('a', { kind: 'running' });
    });
    expect(surface.calls).toContain('stop a');
  });
});

describe('a container has failed', () => {
  test('whose commits cannot be had, and its stories with it', async () => {
    surface.faults.set('fetch', new Fault('timeout', 'git hangs'));
    const ended = await ground.worked(finishes);
    expect(ended).toMatchObject({ status: 'failed', storyProgress: { completed: 0, failed: 2 } });
    expect(ended.work).toMatchObject({
      reason: 'lost: what was done did not come to the host: US-001, US-002',
      errors: ['its commits were not fetched: git hangs'],
    });
  });

  test('that vanished, but not the stories whose commits are on the host', async () => {
    surface.landed = ['US-001'];
    const ended = await ground.worked((adapter) => {
      adapter.progress('US-001', 'completed');
      surface.note = async ({ work }) => {
        if (!work!.safe.includes('US-001')) return;
        adapter.progress('US-002', 'completed');
        surface.become('a', { kind: 'absent' });
        adapter.output.end();
      };
    });
    expect(ended.work).toMatchObject({ reason: 'lost', safe: ['US-001'] });
    expect(Object.values(ended.work!.stories).map(({ status }) => status)).toEqual(['completed', 'failed']);
  });

  test.each<[string, ObservedContainer, string]>([
    ['ended without a completion', exited(0), 'no_completion'],
    ['ended with a code', exited(3), 'AGENT_CRASH: ended with 3'],
    ['was killed', exited(137, { signal: 'SIGKILL' }), 'AGENT_CRASH: ended by SIGKILL'],
    ['had no memory left', exited(137, { signal: 'SIGKILL', outOfMemory: true }), 'CONTAINER_OOM'],
    ['is gone', { kind: 'absent' }, 'lost'],
  ])('when its sandbox %s', async (_, observed, reason) => {
    const ended = await ground.worked((adapter) => {
      adapter.progress('US-001', 'in_progress');
      surface.become('a', observed);
      adapter.output.end();
    });
    expect(ended.status).toBe('failed');
    expect(ended.work?.reason).toBe(reason);
    expect(ended.work?.stories['US-001']?.status).toBe('failed');
    expect(surface.notes.at(-1)?.work?.stories['US-001']?.status).toBe('failed');
  });

  test('when it says so', async () => {
    const ended = await ground.worked((adapter) => {
      surface.become('a', exited(1));
      adapter.error('AGENT_CRASH', 'US-001: exit 1');
      adapter.completion('failed', ['US-001: exit 1']);
    });
    expect(ended).toMatchObject({ status: 'failed', work: { errors: ['AGENT_CRASH: US-001: exit 1'] } });
  });

  test('when it claims more than its stories say', async () => {
    const ended = await ground.worked((adapter) => {
      surface.become('a', exited(0));
      adapter.progress('US-001', 'completed');
      adapter.completion('completed');
    });
    expect(ended).toMatchObject({ status: 'failed', work: { reason: 'no_completion: open are US-002' } });
  });

  test('when only the record of an earlier attempt, or of another swarm, says that it is completed', async () => {
    const container = ground.added({ attempt: 2 });
    surface.records.set('a', { outcome: ground.outcome(), digest: 'old' });
    const ends = (adapter: FakeAdapter) => {
      surface.become('a', exited(0));
      adapter.output.end();
    };
    expect(await ground.worked(ends, container)).toMatchObject({ status: 'failed', work: { reason: 'no_completion' } });
    ground.forget();
    surface.records.clear();
    const other = await ground.worked((adapter) => {
      const swarmId = '0e3b7f2c-5d1a-4c8e-9f00-1234567890ab';
      surface.records.set('a', { outcome: ground.outcome({ swarmId }), digest: 'foreign' });
      ends(adapter);
    }, ground.added());
    expect(other.status).toBe('failed');
  });

  test('when it speaks nonsense', async () => {
    const ended = await ground.worked((adapter) => adapter.output.write('nonsense\n'.repeat(2000)));
    expect(ended.work?.reason).toBe('AGENT_CRASH: it speaks nonsense');
  });

  test('when nobody can say how its sandbox is, and has no process then', async () => {
    surface.faults.set('observe', new Fault('internal', 'no idea'));
    const ended = await ground.worked((adapter) => adapter.output.end());
    expect(ended).toMatchObject({ status: 'failed', acpPid: null, work: { reason: 'no idea' } });
  });

  test('when its sandbox cannot be made', async () => {
    surface.faults.set('begin', new Fault('unsupported', 'no engine here'));
    expect(await ground.worked(finishes)).toMatchObject({ status: 'failed', work: { reason: 'no engine here' } });
  });
});

describe('what an adapter claims', () => {
  test('counts only with the ids of its container, for stories there are, where they may go', async () => {
    const ended = await ground.worked((adapter) => {
      adapter.say(
        { type: 'completion', payload: { status: 'completed', prUrl: null, errors: [] } },
        {
          swarmId: '0e3b7f2c-5d1a-4c8e-9f00-1234567890ab',
          containerId: '0123456789abcdef',
        },
      );
      adapter.progress('US-009', 'completed');
      adapter.progress('US-001', 'completed', 'x');
      adapter.progress('US-001', 'failed');
      adapter.progress('US-001', 'pending');
      adapter.progress('US-002', 'in_progress', 'y'.repeat(2000));
      surface.become('a', exited(1));
      adapter.completion('failed');
    });
    expect(ended.work?.stories).toEqual({
      'US-001': { status: 'completed', output: 'x' },
      'US-002': { status: 'failed', output: `${'y'.repeat(299)}…` },
    });
  });

  test('is written down while it works, however much it says', async () => {
    let writes = 0;
    const ended = await ground.worked((adapter) => {
      store.subscribe(({ type }) => {
        if (type === 'swarm.progress' && writes++ === 0) setImmediate(() => finishes(adapter));
      });
      for (let n = 0; n < 5000; n++) adapter.progress('US-001', 'in_progress', String(n));
    });
    expect(ended.status).toBe('completed');
    expect(writes).toBeLessThan(500);
  });
});

describe('a worker', () => {
  test('that is told to stop has the sandbox stopped', async () => {
    const container = ground.added();
    const one = ground.worker(container);
    surface.onConnect = (adapter) => {
      adapter.progress('US-001', 'in_progress');
      void one.stop().then(() => adapter.output.end());
    };
    await one.run();
    const ended = state.container(state.current('/p'), 'a');
    expect(ended).toMatchObject({ status: 'stopped', work: { reason: null, desired: 'stopped' } });
    expect(ended.work?.stories['US-001']?.status).toBe('failed');
  });

  test('asks an engine again that is away for a while', async () => {
    let asked = 0;
    surface.observe = async () => {
      if (asked++ < 1) throw away;
      return { kind: 'exited', exitCode: 0, signal: null, outOfMemory: false };
    };
    expect(await ground.worked(finishes)).toMatchObject({ status: 'completed' });
    expect(asked).toBeGreaterThan(1);
  });

  test('that leaves records nothing more, and the next one goes on', async () => {
    const container = ground.added();
    const first = ground.worker(container);
    surface.onConnect = (adapter) => {
      adapter.progress('US-001', 'in_progress');
      setTimeout(() => first.leave(), 10);
    };
    await first.run();
    const between = state.container(state.current('/p'), 'a');
    expect(between.status).toBe('running');
    expect(await ground.worked(finishes, between)).toMatchObject({ status: 'completed' });
  });

  test('that leaves while commits are fetched has not failed for want of them', async () => {
    const first = ground.worker(ground.added());
    surface.onConnect = finishes;
    const { fetch } = surface;
    surface.fetch = async () => {
      first.leave();
      throw away;
    };
    await first.run();
    const between = state.container(state.current('/p'), 'a');
    expect(between.status).toBe('running');
    expect(surface.notes.flatMap(({ work }) => Object.values(work!.stories))).not.toContainEqual(
      expect.objectContaining({ status: 'failed' }),
    );
    surface.fetch = fetch;
    expect(await ground.worked(finishes, between)).toMatchObject({ status: 'completed' });
  });

  test('goes on from a completion that was written down already, without another word', async () => {
    const completion = { status: 'completed', prUrl: null, errors: [] } as const;
    const stories = { 'US-001': { status: 'completed', output: '' } } as const;
    const container = state.change(ground.added({ completion, stories, startedAt: now() }), { status: 'running' }, 'x');
    surface.become('a', exited(0));
    expect(await ground.worked(() => expect.unreachable(), container)).toMatchObject({ status: 'completed' });
    expect(surface.calls).not.toContain('connect a');
  });

  test('survives a store that fails', async () => {
    const container = ground.added();
    surface.onConnect = (adapter) => {
      adapter.progress('US-001', 'in_progress');
      store.close();
      surface.become('a', exited(0));
      setTimeout(() => adapter.completion('failed'), 5);
    };
    await ground.worker(container).run();
  });
});
