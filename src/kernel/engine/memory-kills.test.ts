import { expect, test } from 'vitest';
import type { Process } from './engine.ts';
import { exitFrom } from './exit.ts';
import { countingKills, watchMemoryKills } from './memory-kills.ts';

test.each([
  ['version 1', '3:cpu,cpuacct:/x\n2:memory:/box/1\n0::/\n', '/sys/fs/cgroup/memory/box/1/memory.oom_control'],
  ['version 2', '0::/box/1\n', '/sys/fs/cgroup/box/1/memory.events'],
])('%s control groups: kills for lack of memory are counted', (_, groups, path) => {
  const files: Record<string, string> = { '/proc/7/cgroup': groups, [path]: 'oom 4\noom_kill 3\n' };
  const kills = watchMemoryKills(7, (name) => files[name] ?? null);
  expect(kills()).toBe(false);
  files[path] = 'oom 5\noom_kill 4\n';
  expect(kills()).toBe(true);
  delete files[path];
  expect(kills()).toBe(false);
});

test('a process that is gone has no kills', () => {
  expect(watchMemoryKills(7, () => null)()).toBe(false);
});

test.each([
  [137, true, true],
  [1, true, true],
  [0, true, false],
  [137, false, false],
])('exit code %i with a kill meanwhile (%s) is out of memory: %s', async (exitCode, killed, outOfMemory) => {
  const process = { exited: Promise.resolve(exitFrom(exitCode)) } as Process;
  expect((await countingKills(process, () => killed).exited).outOfMemory).toBe(outOfMemory);
});
