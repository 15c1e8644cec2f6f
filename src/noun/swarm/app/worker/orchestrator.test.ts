import { beforeEach, describe, expect, test } from 'vitest';
import { createMemoryStore } from '../../../../../test/fakes/store/memory.ts';
import type { Store } from '../../../../kernel/store/store.ts';
import type { Fault } from '../../../../model/fault.ts';
import { freshWork, type Swarm, type SwarmContainer } from '../../model/swarm.ts';
import { noProgress } from '../../model/task.ts';
import { SwarmState } from '../state/state.ts';
import { FakeActions, type FakeAdapter } from './fake.ts';
import { Orchestrator } from './orchestrator.ts';

let store: Store;
let state: SwarmState;
let actions: FakeActions;
let orchestrator: Orchestrator;
let swarm: Swarm;
let adapters: Map<string, FakeAdapter>;

const now = () => '2026-01-31T12:00:00.000Z';

beforeEach(() => {
  store = createMemoryStore();
  state = new SwarmState('ann', store, now);
  actions = new FakeActions();
  adapters = new Map();
  actions.onConnect = (adapter, { containerName }) => void adapters.set(containerName, adapter);
  orchestrator = make();
  swarm = state.init('/p', false);
});

function make(): Orchestrator {
  const limits = { taskMs: 60_000, silenceMs: 60_000 };
  const report = (fault: Fault) => expect.unreachable(fault.message);
  return new Orchestrator({
    ...{ state, actions, limits },
    ...{ writeMs: 0, fetchMs: 0, retryMs: 1 },
    now,
    report,
  });
}

function add(containerName: string): void {
  const stories = { 'US-001': { status: 'pending', output: '' } } as const;
  const work = freshWork({ agent: 'x', request: {}, stories });
  const containerId = Buffer.from(containerName.padEnd(8, '0')).toString('hex');
  const entry = { containerId, containerName, taskFilePath: `.carrel/tasks/${containerName}.json`, branchName: 'b' };
  state.add(swarm, entry, { storyProgress: noProgress, work });
}

function container(name: string): SwarmContainer {
  return state.container(swarm, name);
}

function statuses(): string {
  return state
    .containers(swarm)
    .map(({ containerName, status }) => `${containerName} ${status}`)
    .join(', ');
}

async function until(text: string): Promise<void> {
  for (let tries = 0; statuses() !== text && tries < 500; tries++)
    await new Promise((resolve) => setTimeout(resolve, 2));
  expect(statuses()).toBe(text);
}

async function connected(name: string): Promise<FakeAdapter> {
  for (let tries = 0; !adapters.has(name) && tries < 500; tries++)
    await new Promise((resolve) => setTimeout(resolve, 2));
  return adapters.get(name)!;
}

async function finish(name: string, status: 'completed' | 'failed' = 'completed'): Promise<void> {
  const adapter = await connected(name);
  actions.become(name, { kind: 'exited', exitCode: 0, signal: null, outOfMemory: false });
  if (status === 'completed') adapter.progress('US-001', 'completed');
  adapter.completion(status);
}

describe('in a swarm with a limit of two', () => {
  beforeEach(() => {
    for (const name of ['a', 'b', 'c']) add(name);
    state.setMax(swarm, 2);
    swarm = state.current('/p');
    orchestrator.advance('/p');
  });

  test('two containers work at once, and one that fails frees its place', async () => {
    await until('a running, b running, c pending');
    await finish('a', 'failed');
    await until('a failed, b running, c running');
    await finish('b');
    await finish('c');
    await until('a failed, b completed, c completed');
    expect(actions.calls.filter((call) => call.startsWith('begin'))).toEqual(['begin a', 'begin b', 'begin c']);
  });

  test('a stopped container frees its place, and a waiting one leaves the queue', async () => {
    await until('a running, b running, c pending');
    await orchestrator.stop(container('c'));
    await until('a running, b running, c stopped');
    await connected('a');
    const stopped = orchestrator.stop(container('a'));
    adapters.get('a')!.output.end();
    await stopped;
    await until('a stopped, b running, c stopped');
    expect(actions.calls).not.toContain('begin c');
  });

  test('running containers go on with the next daemon and are not begun again', async () => {
    await until('a running, b running, c pending');
    await connected('b');
    orchestrator.dispose();
    adapters.clear();
    const next = make();
    next.recover();
    await finish('a');
    await finish('b');
    await finish('c');
    await until('a completed, b completed, c completed');
    expect(state.containers(swarm).map(({ work }) => work?.attempt)).toEqual([1, 1, 1]);
  });

  test('waiting for an end has a time-out', async () => {
    await until('a running, b running, c pending');
    await orchestrator.settled(container('a'), 5);
    await finish('a');
    await orchestrator.settled(container('a'), 5000);
    expect(container('a').status).toBe('completed');
  });
});

test('no container begins after dispose', async () => {
  add('a');
  orchestrator.dispose();
  orchestrator.advance('/p');
  expect(actions.calls).toEqual([]);
});

test('containers of scripts get no worker', () => {
  state.add(swarm, { containerId: '0123456789ab', containerName: 's', taskFilePath: 'x.json', branchName: 'b' });
  orchestrator.advance('/p');
  orchestrator.recover();
  expect(actions.calls).toEqual([]);
});
