import { describe, expect, it } from 'vitest';
import { type CgroupFacts, cgroupRow, groupPath, otherGroupsRow, quotaIn } from './cgroup.ts';

const root: CgroupFacts = {
  rootless: false,
  version: 2,
  hybrid: false,
  parent: '/carrel-0123456789ab',
  enforced: ['cpus', 'memoryBytes', 'pids', 'swapBytes'],
  controllers: ['cpuset', 'cpu', 'io', 'memory', 'pids'],
  account: 'ada',
};
const none: CgroupFacts = { ...root, rootless: true, parent: null, enforced: ['pids'] };

describe('control groups', () => {
  it.each([
    [root, 'v2, enforced: cpu, memory, pids, swap'],
    [{ ...root, version: 1 as const }, 'v1, enforced: cpu, memory, pids, swap'],
    [{ ...root, version: 1 as const, hybrid: true }, 'hybrid, enforced: cpu, memory, pids, swap'],
  ])('with all controllers are ok', (facts, detail) => {
    expect(cgroupRow(facts)).toMatchObject({ name: 'cgroups', level: 'ok', detail });
  });

  it('without a controller are a failure', () => {
    expect(cgroupRow({ ...root, controllers: ['cpu', 'pids'] })).toEqual({
      name: 'cgroups',
      level: 'failure',
      detail: 'v2 without memory',
      hint: 'Boot with the kernel option cgroup_enable=memory.',
    });
  });

  it('without a controller are a failure with a hint that tells an ordinary user how to delegate it', () => {
    const row = cgroupRow({ ...root, rootless: true, controllers: ['memory', 'pids'] });
    expect(row).toMatchObject({ level: 'failure', detail: 'v2 without cpu' });
    expect(row.hint).toMatch(/^as root: .*Delegate=cpu memory pids/);
    expect(row.hint).not.toContain('\n');
  });

  it('that do not count swap cause a warning', () => {
    const row = cgroupRow({ ...root, version: 1, enforced: ['cpus', 'memoryBytes', 'pids'] });
    expect(row).toMatchObject({ level: 'warning', hint: 'Boot with the kernel option swapaccount=1.' });
  });

  it('that are not delegated cause a warning', () => {
    const row = cgroupRow(none);
    expect(row).toMatchObject({ level: 'warning', detail: 'v2, none is delegated to Carrel: enforced is pids only' });
    expect(row.hint).toMatch(/^\(1\) .*loginctl enable-linger ada; \(2\) .*carrel up -d$/);
  });

  it('of version 1 cause a hint to switch to version 2, as they cannot be delegated', () => {
    expect(cgroupRow({ ...none, version: 1 }).hint).toMatch(
      /^\(1\) boot with .*unified_cgroup_hierarchy=1; \(2\) keep your systemd running/,
    );
  });
});

describe('the row for control groups of other installations', () => {
  it.each([
    [[], 'none'],
    [[{ name: 'carrel-a', busy: true }], '1 with sandboxes'],
    [[{ name: 'carrel-a', busy: false }], 'none; nothing runs in carrel-a'],
  ])('for %j says: %s', (groups, detail) => {
    expect(otherGroupsRow(groups)).toEqual({ name: 'other-installations', level: 'ok', detail, hint: null });
  });
});

describe('the control group of a process', () => {
  it.each([
    ['8:pids:/a\n2:cpu,cpuacct:/b\n0::/c\n', '/b'],
    ['0::/user.slice/x:y\n', '/user.slice/x:y'],
    ['8:pids:/a\n', null],
    ['', null],
  ])('in %j is %j', (text, path) => {
    expect(groupPath(text, 'cpu')).toBe(path);
  });
});

describe('a quota', () => {
  it.each([
    ['50000 100000\n', 0.5],
    ['50000\n 100000\n', 0.5],
    ['max 100000\n', null],
    ['-1\n 100000\n', null],
    [' ', null],
  ])('in %j is %j', (text, quota) => {
    expect(quotaIn(text)).toBe(quota);
  });
});
