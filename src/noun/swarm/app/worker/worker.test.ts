import { beforeEach, describe, expect, test } from 'vitest';
import { exited, now, WorkerSetup } from '../../../../../test/fixtures/worker-setup.ts';
import type { Store } from '../../../../kernel/store/store.ts';
import { Fault } from '../../../../model/fault.ts';
import type { ObservedContainer } from '../../../../model/foreign-container.ts';
import type { SwarmState } from '../state/state.ts';
import { engineAway, type FakeActions, type FakeAdapter } from './fake.ts';

let setup: WorkerSetup;
let store: Store;
let state: SwarmState;
let actions: FakeActions;
beforeEach(() => {
  setup = new WorkerSetup();
  ({ store, state, actions } = setup);
});

const finishes = (adapter: FakeAdapter) => setup.finishes(adapter);

describe('a container is completed', () => {
  test('by the messages of its adapter, with its commits fetched and its stories in the task file', async () => {
    actions.tips = [{ ref: 'refs/carrel/a/heads/b', commit: 'c', subject: 's', ahead: 2 }];
    const ended = await setup.worked(finishes);
    expect(ended).toMatchObject({ status: 'completed', storyProgress: { total: 2, completed: 2 } });
    expect(ended.work).toMatchObject({ reason: null, tips: actions.tips, startedAt: now() });
    const pids = actions.notes.map(({ status, acpPid }) => `${status} ${acpPid}`);
    expect([new Set(pids), ended.acpPid]).toEqual([new Set(['running 42']), null]);
    expect(actions.notes.at(-1)?.work?.stories['US-002']).toEqual({ status: 'completed', output: 'done' });
    const order = actions.calls.filter((call) => /^(begin|connect|ended|fetch)/.test(call));
    expect(order).toEqual(['begin a', 'connect a', 'ended a', 'fetch a']);
  });

  test('by its record, when the connection broke before the completion', async () => {
    const container = setup.added();
    const ended = await setup.worked((adapter) => {
      actions.become('a', exited(0));
      actions.records.set('a', { outcome: setup.outcome(), digest: 'new' });
      adapter.output.end();
    }, container);
    expect(ended).toMatchObject({ status: 'completed', storyProgress: { completed: 2 } });
  });

  test('even when it was killed after its completion', async () => {
    const ended = await setup.worked((adapter) => {
      finishes(adapter);
      actions.become('a', exited(137, { signal: 'SIGKILL' }));
    });
    expect(ended.status).toBe('completed');
  });

  test('after the connection broke while the adapter lived, and the worker connected again', async () => {
    let connections = 0;
    const received: unknown[] = [];
    const ended = await setup.worked((adapter) => {
      connections++;
      setImmediate(() => received.push(...adapter.received));
      if (connections === 1) adapter.output.destroy(new Error('broken'));
      else if (connections === 2) adapter.output.end();
      else finishes(adapter);
    });
    expect(ended.status).toBe('completed');
    expect(connections).toBe(3);
    expect(received.map((message) => (message as { type: string }).type)).toContain('task-request');
    const lost = ['broken', 'the connection ended'].map((why) => `ACP_CONNECTION_LOST: ${why}; connecting again`);
    expect(ended.work?.errors).toEqual(lost);
  });

  test('with the lost connection among its errors, though the agent was done before the engine came back', async () => {
    actions.faults.set('observe', engineAway);
    const ended = await setup.worked((adapter) => {
      actions.become('a', exited(0));
      actions.records.set('a', { outcome: setup.outcome(), digest: 'new' });
      adapter.output.destroy(new Error('broken'));
    });
    expect(ended.status).toBe('completed');
    expect(ended.work?.errors).toEqual(['ACP_CONNECTION_LOST: broken; connecting again']);
  });

  test('although the task file cannot be changed, which is among its errors', async () => {
    actions.note = async () => {
      throw new Fault('not_found', 'the file is gone');
    };
    const ended = await setup.worked(finishes);
    expect(ended.status).toBe('completed');
    expect(ended.work?.errors).toEqual(['the task file was not changed: the file is gone']);
  });

  test('and stopped when it does not end by itself', async () => {
    await setup.worked((adapter) => {
      finishes(adapter);
      actions.become('a', { kind: 'running' });
    });
    expect(actions.calls).toContain('stop a');
  });
});

describe('a container has failed', () => {
  test('with its stories when its commits cannot be fetched', async () => {
    actions.faults.set('fetch', new Fault('timeout', 'git hangs'));
    const ended = await setup.worked(finishes);
    expect(ended).toMatchObject({ status: 'failed', storyProgress: { completed: 0, failed: 2 } });
    expect(ended.work).toMatchObject({
      reason: 'lost: commits did not reach the host: US-001, US-002',
      errors: ['its commits were not fetched: git hangs'],
    });
  });

  test('when its sandbox is gone, but not the stories whose commits are on the host', async () => {
    actions.landed = ['US-001'];
    const ended = await setup.worked((adapter) => {
      adapter.progress('US-001', 'completed');
      actions.note = async ({ work }) => {
        if (!work!.safe.includes('US-001')) return;
        adapter.progress('US-002', 'completed');
        actions.become('a', { kind: 'absent' });
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
    const ended = await setup.worked((adapter) => {
      adapter.progress('US-001', 'in_progress');
      actions.become('a', observed);
      adapter.output.end();
    });
    expect(ended.status).toBe('failed');
    expect(ended.work?.reason).toBe(reason);
    expect(ended.work?.stories['US-001']?.status).toBe('failed');
    expect(actions.notes.at(-1)?.work?.stories['US-001']?.status).toBe('failed');
  });

  test('when its completion has that status', async () => {
    const ended = await setup.worked((adapter) => {
      actions.become('a', exited(1));
      adapter.error('AGENT_CRASH', 'US-001: exit 1');
      adapter.completion('failed', ['US-001: exit 1']);
    });
    expect(ended).toMatchObject({ status: 'failed', work: { errors: ['AGENT_CRASH: US-001: exit 1'] } });
  });

  test('when its completion claims more than its stories say', async () => {
    const ended = await setup.worked((adapter) => {
      actions.become('a', exited(0));
      adapter.progress('US-001', 'completed');
      adapter.completion('completed');
    });
    expect(ended).toMatchObject({ status: 'failed', work: { reason: 'no_completion: open are US-002' } });
  });

  test('when only the record of an earlier attempt or of another swarm is completed', async () => {
    const container = setup.added({ attempt: 2 });
    actions.records.set('a', { outcome: setup.outcome(), digest: 'old' });
    const ends = (adapter: FakeAdapter) => {
      actions.become('a', exited(0));
      adapter.output.end();
    };
    expect(await setup.worked(ends, container)).toMatchObject({ status: 'failed', work: { reason: 'no_completion' } });
    setup.forget();
    actions.records.clear();
    const other = await setup.worked((adapter) => {
      const swarmId = '0e3b7f2c-5d1a-4c8e-9f00-1234567890ab';
      actions.records.set('a', { outcome: setup.outcome({ swarmId }), digest: 'foreign' });
      ends(adapter);
    }, setup.added());
    expect(other.status).toBe('failed');
  });

  test('when it sends lines that are no messages', async () => {
    const ended = await setup.worked((adapter) => adapter.output.write('nonsense\n'.repeat(2000)));
    expect(ended.work?.reason).toBe('AGENT_CRASH: it sends lines that are no messages');
  });

  test('and has no process when its sandbox cannot be observed', async () => {
    actions.faults.set('observe', new Fault('internal', 'no idea'));
    const ended = await setup.worked((adapter) => adapter.output.end());
    expect(ended).toMatchObject({ status: 'failed', acpPid: null, work: { reason: 'no idea' } });
  });

  test('when its sandbox cannot be created', async () => {
    actions.faults.set('begin', new Fault('unsupported', 'no engine here'));
    expect(await setup.worked(finishes)).toMatchObject({ status: 'failed', work: { reason: 'no engine here' } });
  });
});

describe('what an adapter claims', () => {
  test('counts only with the ids of its container, for known stories and allowed transitions', async () => {
    const ended = await setup.worked((adapter) => {
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
      actions.become('a', exited(1));
      adapter.completion('failed');
    });
    expect(ended.work?.stories).toEqual({
      'US-001': { status: 'completed', output: 'x' },
      'US-002': { status: 'failed', output: `${'y'.repeat(299)}…` },
    });
  });

  test('is recorded while it works, however many messages it sends', async () => {
    let writes = 0;
    const ended = await setup.worked((adapter) => {
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
  test('that is stopped stops the sandbox', async () => {
    const container = setup.added();
    const one = setup.worker(container);
    actions.onConnect = (adapter) => {
      adapter.progress('US-001', 'in_progress');
      void one.stop().then(() => adapter.output.end());
    };
    await one.run();
    const ended = state.container(state.current('/p'), 'a');
    expect(ended).toMatchObject({ status: 'stopped', work: { reason: null, desired: 'stopped' } });
    expect(ended.work?.stories['US-001']?.status).toBe('failed');
  });

  test('asks again when the engine does not answer', async () => {
    let calls = 0;
    actions.observe = async () => {
      if (calls++ < 1) throw engineAway;
      return { kind: 'exited', exitCode: 0, signal: null, outOfMemory: false };
    };
    expect(await setup.worked(finishes)).toMatchObject({ status: 'completed' });
    expect(calls).toBeGreaterThan(1);
  });

  test('that leaves records nothing more, and the next worker continues', async () => {
    const container = setup.added();
    const first = setup.worker(container);
    actions.onConnect = (adapter) => {
      adapter.progress('US-001', 'in_progress');
      setTimeout(() => first.leave(), 10);
    };
    await first.run();
    const between = state.container(state.current('/p'), 'a');
    expect(between.status).toBe('running');
    expect(await setup.worked(finishes, between)).toMatchObject({ status: 'completed' });
  });

  test('that leaves during a fetch does not fail the container', async () => {
    const first = setup.worker(setup.added());
    actions.onConnect = finishes;
    const { fetch } = actions;
    actions.fetch = async () => {
      first.leave();
      throw engineAway;
    };
    await first.run();
    const between = state.container(state.current('/p'), 'a');
    expect(between.status).toBe('running');
    expect(actions.notes.flatMap(({ work }) => Object.values(work!.stories))).not.toContainEqual(
      expect.objectContaining({ status: 'failed' }),
    );
    actions.fetch = fetch;
    expect(await setup.worked(finishes, between)).toMatchObject({ status: 'completed' });
  });

  test('continues from a recorded completion without another message', async () => {
    const completion = { status: 'completed', prUrl: null, errors: [] } as const;
    const stories = { 'US-001': { status: 'completed', output: '' } } as const;
    const container = state.change(setup.added({ completion, stories, startedAt: now() }), { status: 'running' }, 'x');
    actions.become('a', exited(0));
    expect(await setup.worked(() => expect.unreachable(), container)).toMatchObject({ status: 'completed' });
    expect(actions.calls).not.toContain('connect a');
  });

  test('survives a store that fails', async () => {
    const container = setup.added();
    actions.onConnect = (adapter) => {
      adapter.progress('US-001', 'in_progress');
      store.close();
      actions.become('a', exited(0));
      setTimeout(() => adapter.completion('failed'), 5);
    };
    await setup.worker(container).run();
  });
});
