import { describe, expect, test } from 'vitest';
import type { ObservedContainer } from '../../../model/foreign-container.ts';
import {
  type ContainerStatus,
  containerStatuses,
  exportOf,
  reconciled,
  renewed,
  type Swarm,
  type SwarmContainer,
  withChange,
} from './swarm.ts';
import { noProgress } from './task.ts';

const at = '2026-01-31T12:00:00.000Z';
const later = '2026-01-31T13:00:00.000Z';
const swarm: Swarm = {
  swarmId: '0e3b7f2c-5d1a-4c8e-9f00-1234567890ab',
  project: '/p',
  max: 4,
  createdAt: at,
  updatedAt: at,
};
const work = {
  agent: 'claude',
  request: {},
  desired: 'stopped',
  attempt: 1,
  startedAt: at,
  reason: 'lost',
  errors: ['x'],
  completion: null,
  staleRecord: null,
  stories: { 'US-001': { status: 'completed', output: '' } },
  tips: [],
  safe: ['US-001'],
} as const;

function container(status: ContainerStatus, change: Partial<SwarmContainer> = {}): SwarmContainer {
  return {
    swarmId: swarm.swarmId,
    containerId: '0123456789abcdef',
    containerName: 'login',
    taskFilePath: '.carrel/tasks/2026-01-31-login-tasks.json',
    branchName: 'feat/login',
    status,
    prUrl: null,
    storyProgress: noProgress,
    createdAt: at,
    updatedAt: at,
    acpPid: null,
    work: null,
    ...change,
  };
}

const exited = (exitCode: number | null, signal: string | null = null, outOfMemory = false): ObservedContainer => ({
  kind: 'exited',
  exitCode,
  signal,
  outOfMemory,
});
const completed = { status: 'completed', prUrl: null, errors: [] } as const;
const lost = { status: 'failed', reason: 'lost' };

describe('reconciliation', () => {
  test.each<[ContainerStatus, ObservedContainer, unknown]>([
    ['pending', { kind: 'absent' }, lost],
    ['running', { kind: 'absent' }, lost],
    ['running', { kind: 'waiting' }, lost],
    ['pending', { kind: 'waiting' }, null],
    ['running', exited(0), { status: 'failed', reason: 'no_completion' }],
    ['running', exited(1), { status: 'failed', reason: 'AGENT_CRASH: ended with 1' }],
    ['running', exited(137, 'SIGKILL'), { status: 'failed', reason: 'AGENT_CRASH: ended by SIGKILL' }],
    ['running', exited(137, 'SIGKILL', true), { status: 'failed', reason: 'CONTAINER_OOM' }],
    ['pending', exited(0), { status: 'failed', reason: 'no_completion' }],
    ['running', { kind: 'paused' }, { status: 'stopped', reason: null }],
    ['pending', { kind: 'running' }, { status: 'running', reason: null }],
    ['running', { kind: 'running' }, null],
  ])('of the status %s and the observed state %j has the documented outcome', (status, observed, outcome) => {
    expect(reconciled({ status, completion: null }, observed)).toEqual(outcome);
  });

  test.each(['completed', 'failed', 'stopped'] as const)('a completion that says %s decides the status', (status) => {
    for (const observed of [exited(0), exited(1), exited(137, 'SIGKILL', true), { kind: 'absent' } as const]) {
      const outcome = reconciled({ status: 'running', completion: { ...completed, status } }, observed);
      expect(outcome).toEqual({ status, reason: null });
    }
  });

  test.each(['completed', 'failed', 'stopped'] as const)('the status %s stays, whatever is observed', (status) => {
    const kinds = ['absent', 'waiting', 'running', 'paused'] as const;
    for (const observed of [...kinds.map((kind) => ({ kind })), exited(0), exited(1)]) {
      for (const completion of [null, completed]) expect(reconciled({ status, completion }, observed)).toBeNull();
    }
  });
});

describe('transitions', () => {
  const legal = [
    'pending running',
    'pending failed',
    'pending stopped',
    'running completed',
    'running failed',
    'running stopped',
  ];
  const all = containerStatuses.flatMap((from) => containerStatuses.map((to) => [from, to] as const));

  test.each(all.filter(([from, to]) => from !== to))('from %s to %s only as documented', (from, to) => {
    const change = () => withChange(container(from), { status: to }, later);
    if (legal.includes(`${from} ${to}`)) expect(change()).toMatchObject({ status: to, updatedAt: later });
    else expect(change).toThrow(`login is ${from} and cannot become ${to}`);
  });

  test('an end state is left only by a renewal, which keeps the stories', () => {
    const again = renewed(container('failed', { work, acpPid: 3 }), work, later);
    expect(again).toMatchObject({ status: 'pending', acpPid: null, updatedAt: later });
    expect(again.work).toMatchObject({
      attempt: 2,
      desired: 'running',
      reason: null,
      errors: [],
      stories: work.stories,
    });
    expect(() => renewed(container('running', { work }), work, later)).toThrow('login is running already');
  });
});

test('the export has the fields of swarm-state.json, the reason, and the latest time', () => {
  const exported = exportOf(swarm, [container('running', { work, updatedAt: later }), container('pending')]);
  expect(exported.updatedAt).toBe(later);
  expect(Object.keys(exported)).toEqual(['swarmId', 'createdAt', 'updatedAt', 'containers']);
  expect(Object.keys(exported.containers[0]!).sort()).toEqual(
    [
      ...['acpPid', 'branchName', 'containerId', 'containerName', 'createdAt', 'prUrl'],
      ...['reason', 'status', 'storyProgress', 'taskFilePath', 'updatedAt'],
    ].sort(),
  );
});
