/** Pauses of the local engine that the common suite cannot make: by another program, and against processes that resist. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Engine } from '../../src/kernel/engine/engine.ts';
import type { LocalHandle } from '../../src/kernel/engine/local/handle.ts';
import { openLocalEngine } from '../../src/kernel/engine/local/local.ts';
import { hasStopped, processesInside, stopStateOf } from '../../src/kernel/engine/local/pause/stopped.ts';
import { defaultLimits } from '../../src/model/limits.ts';
import { codeOf } from '../conformance/engine/trial.ts';
import { until } from '../conformance/engine/wait.ts';
import { sampleLaunch } from '../fixtures/launch.ts';
import { installationId } from '../harness/run.ts';

let folder: string;
let engine: Engine;
let id: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-pause-'));
  engine = openLocalEngine({ folder, installation: installationId() });
  id = randomBytes(8).toString('hex');
});

afterEach(async () => {
  await engine.remove(id, null);
  await engine.dispose();
  rmSync(folder, { recursive: true });
});

it('a pause by another program is observed, and ended by resume and by stop', async () => {
  const handle = await start('sleep infinity');
  pauseFromOutside(handle.init.pid);
  const seen = async (kind: string) => ((await engine.inspect(id, handle)).kind === kind ? true : null);
  await until('the pause to be seen', () => seen('paused'));
  expect((await engine.inspect(id, null)).kind).toBe('paused');
  expect(await codeOf(engine.pause(id, handle))).toBe('conflict');
  await engine.resume(id, handle);
  await until('it to run again', () => seen('running'));
  pauseFromOutside(handle.init.pid);
  await until('the pause to be seen', () => seen('paused'));
  await engine.stop(id, handle, 10_000);
  expect((await engine.inspect(id, handle)).kind).toBe('exited');
});

it('pause stops processes that fork as fast as they can', async () => {
  const handle = await start('fork() { while :; do (:); done; }; fork & fork & fork & wait');
  const inside = () => processesInside(handle.init, []);
  await until('them to fork', async () => (inside().length > 3 ? true : null));
  await engine.pause(id, handle);
  const stopped = inside();
  for (let look = 0; look < 20; look += 1) expect(inside()).toEqual(stopped);
  if (groupOf(handle.init.pid) === null) expect(stopped.map(stopStateOf)).toEqual(stopped.map(() => 'stopped'));
  await engine.resume(id, handle);
  await until('them to fork again', async () => (inside().join() === stopped.join() ? null : true));
});

it('resume leaves a process stopped that had stopped before the pause', async () => {
  const handle = await start('sleep infinity & kill -STOP $!; wait');
  const stopped = () => processesInside(handle.init, []).filter(hasStopped);
  await until('the job to stop', async () => (stopped().length === 1 ? true : null));
  const before = stopped();
  await engine.pause(id, handle);
  await engine.resume(id, handle);
  expect(stopped()).toEqual(before);
});

async function start(script: string): Promise<LocalHandle> {
  const launch = sampleLaunch({
    id,
    runtime: 'crun',
    command: ['/bin/sh', '-c', script],
    env: { PATH: '/usr/bin:/bin' },
    limits: { ...defaultLimits, pids: 64 },
  });
  return (await engine.start(launch)).handle as LocalHandle;
}

function pauseFromOutside(pid: number): void {
  const group = groupOf(pid);
  if (group === null) process.kill(pid, 'SIGSTOP');
  else if (existsSync(join(group, 'freezer.state'))) writeFileSync(join(group, 'freezer.state'), 'FROZEN');
  else writeFileSync(join(group, 'cgroup.freeze'), '1');
}

/** The sandbox's own control group, if it has one. */
function groupOf(pid: number): string | null {
  const text = readFileSync(`/proc/${pid}/cgroup`, 'utf8');
  const own = /^(?:\d+:freezer|0:):(.*carrel-[^/]*\/[0-9a-f]{16})/m.exec(text)?.[1];
  if (own === undefined) return null;
  return ['/sys/fs/cgroup/freezer', '/sys/fs/cgroup'].map((root) => root + own).find(existsSync) ?? null;
}
