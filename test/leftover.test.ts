import { describe, expect, test } from 'vitest';
import { leftovers, type Machine, type SeenProcess } from './leftover.ts';

const run = { id: '1a2b3c', folder: '/tmp/carrel-1a2b3c', installations: ['0123456789ab'] };
const self = 50;

function process(pid: number, overrides: Partial<SeenProcess>): SeenProcess {
  return {
    pid,
    parent: 1,
    argv: ['sleep', '9'],
    environment: 'PATH=/bin\0',
    groups: '0::/\n',
    mounts: [],
    ...overrides,
  };
}

function left(machine: Partial<Machine>): string[] {
  return leftovers(run, { processes: [], mounts: [], groups: [], folders: [], ...machine }, self);
}

const overlay = (folder: string) =>
  `90 80 0:50 / / rw - overlay overlay rw,lowerdir=/usr,upperdir=${folder}/sandboxes/a/upper`;
const bind = (folder: string) => `91 90 8:1 ${folder}/sandboxes/a/state /run/carrel ro - ext4 /dev/sda1 rw`;

describe('a process belongs to the run', () => {
  test.each<[string, Partial<SeenProcess>]>([
    ['by its arguments', { argv: ['conmon', '--bundle', '/tmp/carrel-1a2b3c/carrel-test-x/home/engine/a'] }],
    ['by its environment', { environment: 'PATH=/bin\0CARREL_TEST_RUN=1a2b3c\0' }],
    ['by a path in its environment', { environment: 'CARREL_HOME=/tmp/carrel-1a2b3c/carrel-test-x/home\0' }],
    ['by the group of a test', { groups: '3:pids:/carrel-1a2b3c-carrel-dockerd-x/0f1e\n' }],
    ['by the group of an installation of the run', { groups: '0::/carrel-0123456789ab/a\n' }],
    ['by the file system it is on', { mounts: [overlay('/tmp/carrel-1a2b3c/carrel-test-x/home')] }],
    ['by a folder mounted for it', { mounts: [bind('/carrel-1a2b3c/carrel-test-x/home')] }],
  ])('%s', (_how, overrides) => {
    expect(left({ processes: [process(7, overrides)] })).toEqual([expect.stringMatching(/^process 7: /)]);
  });
});

describe('a process of a second run or of another user is not a leftover', () => {
  test.each<[string, Partial<SeenProcess>]>([
    ['a daemon', { argv: ['node', '/x/dist/program/daemon.js'], environment: 'CARREL_HOME=/home/ada/.carrel\0' }],
    ['a daemon of a second run', { environment: 'CARREL_TEST_RUN=ffffff\0TMPDIR=/tmp/carrel-ffffff\0' }],
    ['a sandbox', { groups: '0::/carrel-ba9876543210/a\n', mounts: [overlay('/home/ada/.carrel')] }],
    ['a sandbox of a second run', { mounts: [bind('/tmp/carrel-ffffff/carrel-test-x/home')] }],
    ['one that has ended and is not yet reaped', { argv: [], groups: '0::/carrel-1a2b3c-x\n' }],
  ])('%s', (_what, overrides) => {
    expect(left({ processes: [process(7, overrides)] })).toEqual([]);
  });

  test('that sees a mount which the run left on the host; only the mount is a leftover', () => {
    const mount = bind('/tmp/carrel-1a2b3c/carrel-test-x/home');
    expect(left({ processes: [process(7, { mounts: [mount] })], mounts: [mount] })).toEqual([
      'mount /tmp/carrel-1a2b3c/carrel-test-x/home/sandboxes/a/state on /run/carrel',
    ]);
  });
});

test('the checking process, its ancestors and its children are no leftovers, a grandchild is', () => {
  const environment = 'CARREL_TEST_RUN=1a2b3c\0';
  const lineage = [process(40, { environment }), process(self, { parent: 40, environment })];
  const below = [process(60, { parent: self, environment }), process(70, { parent: 60, environment })];
  expect(left({ processes: [...lineage, ...below] })).toEqual([expect.stringMatching(/^process 70: /)]);
});

test('groups and folders are recognized by their names', () => {
  const groups = ['carrel-0123456789ab', 'carrel-1a2b3c-delegated', 'carrel-1a2b3c9f8e7d6c', 'carrel-ba9876543210'];
  const folders = ['/tmp/carrel-1a2b3c/carrel-test-x', '/dev/shm/carrel-0123456789ab', '/dev/shm/carrel-ba9876543210'];
  expect(left({ groups: groups.map((name) => `/sys/fs/cgroup/pids/${name}`), folders })).toEqual([
    'cgroup /sys/fs/cgroup/pids/carrel-0123456789ab',
    'cgroup /sys/fs/cgroup/pids/carrel-1a2b3c-delegated',
    'cgroup /sys/fs/cgroup/pids/carrel-1a2b3c9f8e7d6c',
    'folder /tmp/carrel-1a2b3c/carrel-test-x',
    'folder /dev/shm/carrel-0123456789ab',
  ]);
});
