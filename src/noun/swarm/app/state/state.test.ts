import { beforeEach, describe, expect, test } from 'vitest';
import { createMemoryStore } from '../../../../../test/fakes/store/memory.ts';
import type { Store } from '../../../../kernel/store/store.ts';
import { freshWork } from '../../model/swarm.ts';
import { noProgress } from '../../model/task.ts';
import { workerOf } from '../../swarm.ts';
import { removeOrphans, SwarmState } from './state.ts';

let store: Store;
let state: SwarmState;
let tick: number;

beforeEach(() => {
  store = createMemoryStore();
  tick = 0;
  state = new SwarmState('ann', store, () => new Date(++tick).toISOString());
});

const entry = (containerName: string) => ({
  containerId: '0123456789ab',
  containerName,
  taskFilePath: '.aimi/tasks/2026-01-31-a-tasks.json',
  branchName: 'feat/a',
});
const work = freshWork({ agent: 'claude', request: {}, stories: {} });

describe('init', () => {
  test('makes one swarm for a project and a user', () => {
    const swarm = state.init('/p', false);
    expect(state.current('/p')).toEqual(swarm);
    expect(() => state.current('/q')).toThrow('"/q" has no swarm');
    const other = new SwarmState('bob', store, () => '');
    expect(other.find('/p')).toBeNull();
  });

  test('refuses while anything is pending or running, unless forced', () => {
    const first = state.init('/p', false);
    state.add(first, entry('a'));
    expect(() => state.init('/p', false)).toThrow('the swarm has pending or running containers: a');
    const second = state.init('/p', true);
    expect(second.swarmId).not.toBe(first.swarmId);
    expect([state.containers(first), state.containers(second)]).toEqual([[], []]);
  });

  test('refuses even with force while Carrel runs a container', () => {
    state.add(state.init('/p', false), entry('a'), { work, storyProgress: noProgress });
    expect(() => state.init('/p', true)).toThrow('the swarm has pending or running containers: a');
  });

  test('replaces a swarm whose containers have ended', () => {
    const first = state.init('/p', false);
    state.add(first, entry('a'));
    state.update(first, 'a', { status: 'failed' });
    const second = state.init('/p', false);
    expect(second.swarmId).not.toBe(first.swarmId);
    expect(state.current('/p')).toEqual(second);
    expect(state.containers(first)).toEqual([]);
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

  test('is added without reading the others, up to ten thousand', () => {
    const swarm = state.init('/p', false);
    store.list = () => expect.unreachable();
    store.count = () => 9_999;
    state.add(swarm, entry('a'));
    store.count = () => 10_000;
    expect(() => state.add(swarm, entry('b'))).toThrow('the swarm has 10000 containers');
  });

  test('that Carrel runs cannot be changed by a script', () => {
    const swarm = state.init('/p', false);
    state.add(swarm, entry('a'), { work, storyProgress: noProgress });
    expect(() => state.update(swarm, 'a', { status: 'running' })).toThrow(
      'Carrel manages a, so a script cannot change it',
    );
    expect(() => state.remove(swarm, 'a')).toThrow('Carrel manages a, so a script cannot change it');
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

  test('is removed at start when a crash left it without its swarm', () => {
    const swarm = state.init('/p', false);
    state.add(swarm, entry('a'));
    const row = store.get('swarm', swarm.swarmId)!;
    store.remove(row, { at: '', type: 'x', subject: '', data: {} });
    removeOrphans(store, '');
    expect(store.count('container')).toBe(0);
  });
});

describe("the observed state of a script's container", () => {
  const seen = (status: 'pending' | 'running') => {
    const swarm = state.init('/p', false);
    const added = state.add(swarm, entry('a'));
    return { swarm, one: status === 'pending' ? added : state.update(swarm, 'a', { status }) };
  };

  test('is recorded with its reason, unless the script changed the container meanwhile', () => {
    const { swarm, one } = seen('running');
    state.settle(one, { status: 'failed', reason: 'lost' });
    expect(state.container(swarm, 'a')).toMatchObject({ status: 'failed', reason: 'lost' });
    expect(store.events(0, 100).at(-1)).toMatchObject({ type: 'swarm.failed', data: { reason: 'lost' } });
    state.settle(one, { status: 'stopped', reason: null });
    expect(state.container(swarm, 'a').status).toBe('failed');
  });

  test('goes through running on the way from pending to completed', () => {
    const { swarm, one } = seen('pending');
    state.settle(one, { status: 'completed', reason: null });
    expect(state.container(swarm, 'a').status).toBe('completed');
  });

  test('is corrected by a script that reports completed or stopped, and by no other change', () => {
    const { swarm, one } = seen('running');
    state.settle(one, { status: 'failed', reason: 'no_completion' });
    expect(() => state.update(swarm, 'a', { status: 'running' })).toThrow('cannot become running');
    expect(state.update(swarm, 'a', { status: 'completed' })).toMatchObject({ status: 'completed', reason: null });
    expect(() => state.update(swarm, 'a', { status: 'failed' })).toThrow('cannot become failed');
  });

  test('stays failed if the script itself reported that', () => {
    const { swarm } = seen('running');
    state.update(swarm, 'a', { status: 'failed' });
    expect(() => state.update(swarm, 'a', { status: 'completed' })).toThrow('cannot become completed');
  });
});

test('the worker on a task file is an active container that Carrel runs, in a swarm of that project', () => {
  const swarm = state.init('/p', false);
  const place = { project: '/p', folder: '.aimi/tasks' as const, name: '2026-01-31-a-tasks.json' };
  state.add(swarm, entry('by-script'));
  expect(workerOf(store, place)).toBeNull();
  const container = state.add(swarm, entry('worker'), { storyProgress: noProgress, work });
  expect([workerOf(store, place), workerOf(store, { ...place, project: '/q' })]).toEqual(['worker', null]);
  state.change(container, { status: 'stopped' }, 'swarm.stopped');
  expect(workerOf(store, place)).toBeNull();
});
