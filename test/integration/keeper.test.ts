/** Keepers and runtimes that are slower than usual, or are killed. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Engine, ExecSpec } from '../../src/kernel/engine/engine.ts';
import { execInside } from '../../src/kernel/engine/local/exec.ts';
import { openLocalEngine } from '../../src/kernel/engine/local/local.ts';
import { type KeeperOptions, keeperArgs, startKeeper } from '../../src/kernel/engine/local/runtime/keeper.ts';
import { findProgram } from '../../src/kernel/engine/local/runtime/runtime.ts';
import { run } from '../../src/lib/process/run.ts';
import { processesNaming } from '../fixtures/attacks/testbed.ts';
import { sampleLaunch } from '../fixtures/launch.ts';
import { installationId } from '../harness/run.ts';

let folder: string;
let engine: Engine;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-keeper-'));
  engine = openLocalEngine({ folder, installation: installationId() });
});
afterEach(async () => {
  for (const id of await engine.list()) await engine.remove(id, null);
  await engine.dispose();
  rmSync(folder, { recursive: true });
});

function options(id: string, keeperPath = findProgram('conmon')!): KeeperOptions {
  const bundle = join(folder, 'run', id);
  mkdirSync(bundle);
  const runtime = { runtimePath: findProgram('crun')!, runtimeArgs: ['--root', join(folder, 'state/crun')] };
  return {
    keeperPath,
    ...runtime,
    id,
    bundle,
    exits: join(folder, 'exit'),
    log: null,
    keepStdinOpen: false,
    terminal: false,
  };
}

it('create returns only after the keeper has written its pid file', async () => {
  const program = join(folder, 'conmon');
  const script = `read go <&4; echo '{"data": 42}' >&3; sleep 0.2; echo 42 > keeper.pid`;
  writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const one = options('0123456789abcdef', program);
  expect(await startKeeper(one).create()).toBe(42);
  expect(existsSync(join(one.bundle, 'keeper.pid'))).toBe(true);
});

it('a keeper whose daemon died before registration has ended when inspect returns', async () => {
  const one = options('0123456789abcdef');
  const keeper = spawn(one.keeperPath, keeperArgs(one), {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, _OCI_SYNCPIPE: '3', _OCI_STARTPIPE: '4' },
    cwd: one.bundle,
  });
  const [sync, start] = keeper.stdio.slice(3) as [Readable, Writable];
  sync.destroy();
  setTimeout(() => start.end(), 100);
  expect(await engine.inspect(one.id, null)).toEqual({ kind: 'absent' });
  expect(processesNaming(one.id)).toEqual([]);
});

it('a keeper is used only once it is registered', async () => {
  const launch = sampleLaunch({ env: { PATH: '/usr/bin:/bin' } });
  const { id } = launch;
  const asked = new Error('enough was seen');
  const started = engine.start(launch, async () => {
    const keeper = Number(readFileSync(join(folder, 'run', id, 'keeper.pid'), 'utf8'));
    process.kill(keeper, 'SIGSTOP');
    const seen = engine.inspect(id, null);
    // An inspect that does not wait for the keeper would return meanwhile.
    for (let looks = 0; looks < 3; looks += 1) await run(['crun', '--root', join(folder, 'state/crun'), 'state', id]);
    process.kill(keeper, 'SIGKILL');
    expect(await seen).toEqual({ kind: 'absent' });
    throw asked;
  });
  await expect(started).rejects.toBe(asked);
});

it('a signal reaches a command whose runtime writes its pid file late', async () => {
  const program = join(folder, 'runtime');
  const script = 'for arg; do [ "$last" = --pid-file ] && file=$arg; last=$arg; done; sleep 1.5';
  const wait = 'trap "exit 9" INT; echo $$ > "$file"; while :; do sleep 0.02; done';
  writeFileSync(program, `#!/bin/sh\n${script}; ${wait}\n`, { mode: 0o755 });
  const { id, bundle, keeperPath } = options('0123456789abcdef');
  const tools = { runtimePath: program, runtimeArgs: [], keeperPath, maxProcesses: null };
  const spec: ExecSpec = { command: ['true'], env: {}, cwd: '/', stdin: false, terminal: null };
  const command = await execInside(tools, id, bundle, spec);
  await command.signal('SIGINT');
  command.detach();
  expect((await command.exited).exitCode).toBe(9);
});

it('the keepers of execs end with the sandbox', async () => {
  const launch = sampleLaunch({ env: { PATH: '/usr/bin:/bin' } });
  const { handle } = await engine.start(launch);
  const spec: ExecSpec = { command: ['sleep', 'infinity'], env: {}, cwd: '/', stdin: true, terminal: null };
  for (const terminal of [null, { rows: 24, columns: 80 }]) {
    const process = await engine.exec(launch.id, handle, { ...spec, terminal });
    process.exited.catch(() => {});
    process.detach();
  }
  const waiting = processesNaming(join(folder, 'run', launch.id, 'exec'));
  expect(waiting.length).toBeGreaterThan(1);
  for (const pid of waiting) process.kill(pid, 'SIGSTOP');
  await engine.remove(launch.id, handle);
  expect(processesNaming(launch.id)).toEqual([]);
});

it('a killed keeper is reported as lost, and stop still waits for the processes of the sandbox', async () => {
  const command = ['sh', '-c', 'trap "sleep 0.2; exit 0" TERM; while :; do sleep 0.05; done'];
  const launch = sampleLaunch({ command, env: { PATH: '/usr/bin:/bin' } });
  const { handle } = await engine.start(launch);
  const [keeper] = processesNaming(launch.id);
  process.kill(Number(keeper), 'SIGKILL');
  await expect.poll(() => engine.inspect(launch.id, handle)).toMatchObject({ kind: 'running', trouble: 'keeper lost' });
  await expect(engine.attach(launch.id, handle)).rejects.toMatchObject({ code: 'conflict' });
  // The grace time is longer than a test may take.
  await engine.stop(launch.id, handle, 600_000);
  expect(await engine.inspect(launch.id, handle)).toEqual({ kind: 'absent' });
});
