import { beforeEach, describe, expect, test } from 'vitest';
import { forgetStrays, swarmRecords } from '../app/swarm/records.ts';
import { freshWork } from '../model/swarm.ts';
import { noProgress } from '../model/task.ts';
import { createMemoryStore } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import { SwarmState } from './state.ts';

let store: Store;
let state: SwarmState;
let tick: number;

beforeEach(() => {
  store = createMemoryStore();
  tick = 0;
  state = new SwarmState('ann', swarmRecords(store), () => new Date(++tick).toISOString());
});

const entry = (containerName: string) => ({
  containerId: '0123456789ab',
  containerName,
  taskFilePath: '.aimi/tasks/2026-01-31-a-tasks.json',
  branchName: 'feat/a',
});
const work = freshWork({ agent: 'claude', request: {}, stories: {} });

describe('init', () => {
  test('makes a swarm, one for a project and a user', () => {
    const swarm = state.init('/p', false);
    expect(state.current('/p')).toEqual(swarm);
    expect(() => state.current('/q')).toThrow('"/q" has no swarm');
    const other = new SwarmState('bob', swarmRecords(store), () => '');
    expect(other.find('/p')).toBeNull();
  });

  test('refuses while anything is pending or running, unless forced', () => {
    const first = state.init('/p', false);
    state.add(first, entry('a'));
    expect(() => state.init('/p', false)).toThrow('the swarm has 1 pending or running');
    const second = state.init('/p', true);
    expect(second.swarmId).not.toBe(first.swarmId);
    expect([state.containers(first), state.containers(second)]).toEqual([[], []]);
  });

  test('never gives up what Carrel looks after', () => {
    state.add(state.init('/p', false), entry('a'), { work, storyProgress: noProgress });
    expect(() => state.init('/p', true)).toThrow('the swarm has 1 pending or running');
  });

  test('takes the place of what has ended', () => {
    const first = state.init('/p', false);
    state.add(first, entry('a'));
    state.update(first, 'a', { status: 'failed' });
    state.init('/p', false);
  });
});

describe('a container', () => {
  test('is added once, changed and forgotten, each with its event', () => {
    const swarm = state.init('/p', false);
    state.add(swarm, entry('a'));
    expect(() => state.add(swarm, entry('a'))).toThrow('has a container a already');
    state.update(swarm, 'a', { status: 'running', acpPid: 7 });
    expect(() => state.update(swarm, 'a', { status: 'pending' })).toThrow('cannot become pending');
    expect(state.container(swarm, 'a')).toMatchObject({ status: 'running', acpPid: 7 });
    state.remove(swarm, 'a');
    expect(() => state.remove(swarm, 'a')).toThrow('no container "a"');
    const types = store.events(0, 100).map(({ type }) => type);
    expect(types).toEqual(['swarm.created', 'swarm.added', 'swarm.updated', 'swarm.dropped', 'swarm.changed']);
  });

  test('is added without reading those there are, up to ten thousand', () => {
    const swarm = state.init('/p', false);
    const unread = () => expect.unreachable();
    const adding = (count: number) =>
      new SwarmState('ann', { ...swarmRecords(store), containers: unread, count: () => count }, () => '');
    adding(9_999).add(swarm, entry('a'));
    expect(() => adding(10_000).add(swarm, entry('b'))).toThrow('the swarm has 10000 containers');
  });

  test('that Carrel looks after is not changed by a script', () => {
    const swarm = state.init('/p', false);
    state.add(swarm, entry('a'), { work, storyProgress: noProgress });
    expect(() => state.update(swarm, 'a', { status: 'running' })).toThrow('a is looked after by Carrel');
    expect(() => state.remove(swarm, 'a')).toThrow('a is looked after by Carrel');
  });

  test('that has ended is dropped by a cleanup', () => {
    const swarm = state.init('/p', false);
    for (const name of ['a', 'b', 'c', 'd']) state.add(swarm, entry(name));
    state.update(swarm, 'a', { status: 'failed' });
    state.update(swarm, 'b', { status: 'running' });
    state.update(swarm, 'c', { status: 'stopped' });
    state.forget(swarm, state.ended(swarm));
    expect(state.containers(swarm).map(({ containerName }) => containerName)).toEqual(['b', 'd']);
  });

  test('of a swarm that a crash left without its row is forgotten', () => {
    const swarm = state.init('/p', false);
    state.add(swarm, entry('a'));
    const row = store.get('swarm', swarm.swarmId)!;
    store.remove(row, { at: '', type: 'x', subject: '', data: {} });
    forgetStrays(store, '');
    expect(store.count('container')).toBe(0);
  });
});

describe('what a script looks after and is observed', () => {
  const seen = (status: 'pending' | 'running') => {
    const swarm = state.init('/p', false);
    const added = state.add(swarm, entry('a'));
    return { swarm, one: status === 'pending' ? added : state.update(swarm, 'a', { status }) };
  };

  test('has the status and the reason, unless the script said something meanwhile', () => {
    const { swarm, one } = seen('running');
    state.settle(one, { status: 'failed', reason: 'lost' });
    expect(state.container(swarm, 'a')).toMatchObject({ status: 'failed', reason: 'lost' });
    expect(store.events(0, 100).at(-1)).toMatchObject({ type: 'swarm.failed', data: { reason: 'lost' } });
    state.settle(one, { status: 'stopped', reason: null });
    expect(state.container(swarm, 'a').status).toBe('failed');
  });

  test('gets from pending to completed by way of running', () => {
    const { swarm, one } = seen('pending');
    state.settle(one, { status: 'completed', reason: null });
    expect(state.container(swarm, 'a').status).toBe('completed');
  });

  test('is corrected by a script that heard its completion, and by no other word', () => {
    const { swarm, one } = seen('running');
    state.settle(one, { status: 'failed', reason: 'no_completion' });
    expect(() => state.update(swarm, 'a', { status: 'running' })).toThrow('cannot become running');
    expect(state.update(swarm, 'a', { status: 'completed' })).toMatchObject({ status: 'completed', reason: null });
    expect(() => state.update(swarm, 'a', { status: 'failed' })).toThrow('cannot become failed');
  });

  test('that the script itself called failed stays failed', () => {
    const { swarm } = seen('running');
    state.update(swarm, 'a', { status: 'failed' });
    expect(() => state.update(swarm, 'a', { status: 'completed' })).toThrow('cannot become completed');
  });
});
