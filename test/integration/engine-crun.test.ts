/** Work that the engine does instead of crun: the result is as if crun had done it. */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Engine, ExecSpec } from '../../src/kernel/engine/engine.ts';
import { openLocalEngine } from '../../src/kernel/engine/local/local.ts';
import { releaseCommand } from '../../src/kernel/engine/local/runtime/crun.ts';
import { sampleLaunch } from '../fixtures/launch.ts';
import { isRealRoot } from '../harness/machine.ts';
import { installationId } from '../harness/run.ts';

let folder: string;
let installation: string;
let engine: Engine;
const ids: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-crun-'));
  installation = installationId();
  engine = openLocalEngine({ folder, installation });
});

afterEach(async () => {
  for (const id of ids.splice(0)) await engine.remove(id, null);
  await engine.dispose();
  rmSync(folder, { recursive: true });
});

async function start() {
  const launch = sampleLaunch({ runtime: 'crun', env: { PATH: '/usr/bin:/bin' } });
  ids.push(launch.id);
  const { handle } = await engine.start(launch);
  const { annotations } = JSON.parse(readFileSync(join(folder, 'run', launch.id, 'config.json'), 'utf8'));
  return {
    annotations: Object.keys(annotations),
    filter: readFileSync(join(folder, 'state/crun', launch.id, 'seccomp.bpf')),
    exec: (spec: ExecSpec) => engine.exec(launch.id, handle, spec),
    exit: async (...command: string[]) => {
      const spec: ExecSpec = { command, env: {}, cwd: '/', stdin: false, terminal: null };
      const process = await engine.exec(launch.id, handle, spec);
      process.detach();
      return (await process.exited).exitCode;
    },
  };
}

it('later sandboxes use the system call filter that was compiled for the first one', async () => {
  const groups = readFileSync('/proc/self/cgroup', 'utf8');
  const [first, second] = [await start(), await start()];
  expect(first.annotations).toEqual([]);
  expect(second.annotations).toEqual(['run.oci.seccomp_bpf_data']);
  expect(second.filter).toEqual(first.filter);
  for (const { exit } of [first, second]) {
    expect(await exit('sh', '-c', 'cp /bin/true /dev/shm/x && chmod 700 /dev/shm/x')).toBe(0);
    expect(await exit('chmod', '4700', '/dev/shm/x')).toBe(1);
    expect(await exit('unshare', '--user', 'true')).toBe(1);
  }
  // The engine's move into another control group has left this process where it was.
  expect(readFileSync('/proc/self/cgroup', 'utf8')).toBe(groups);
});

it.each([null, { rows: 24, columns: 80 }])(
  'an exec has the out-of-memory score of its sandbox, and not that of this process (%j)',
  async (terminal) => {
    const { exec } = await start();
    const tell = ['sh', '-c', 'read go; cat /proc/self/oom_score_adj /proc/1/oom_score_adj'];
    const process = await exec({ command: tell, env: {}, cwd: '/', stdin: true, terminal });
    process.stderr.resume();
    process.stdin.write('go\n');
    expect((await text(process.stdout)).replace('go', '').split(/\s+/).filter(Boolean)).toEqual(['500', '500']);
    expect(readFileSync('/proc/self/oom_score_adj', 'utf8')).toBe('0\n');
  },
);

it('the test runs in a mount namespace of its own', () => {
  expect(readlinkSync('/proc/self/ns/mnt')).not.toBe(readlinkSync(`/proc/${process.ppid}/ns/mnt`));
});

it.runIf(isRealRoot)('the program of crun is read-only in the namespace from which it enters sandboxes', () => {
  const built = join(import.meta.dirname, '../../dist/kernel/engine/local');
  const script = `import { shieldCrun } from '${built}/runtime/crun.js';
    import { findProgram } from '${built}/runtime/runtime.js';
    shieldCrun();
    (await import('node:fs')).accessSync(findProgram('crun'), ${constants.W_OK});`;
  // The program runs in a namespace of its own; otherwise programs of other tests would have the mount, too.
  const child = ['--mount', process.execPath, '--input-type=module', '-e', script];
  expect(() => execFileSync('unshare', child, { stdio: 'pipe' })).toThrow('EROFS');
});

it('a waiting command is released once; without a waiting command nothing happens', () => {
  const pipe = join(folder, 'exec.fifo');
  expect(releaseCommand(folder)).toBe(false);
  execFileSync('mkfifo', [pipe]);
  const waiting = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  expect(releaseCommand(folder)).toBe(true);
  expect(existsSync(pipe)).toBe(false);
  expect(readSync(waiting, Buffer.alloc(8))).toBe(1);
  closeSync(waiting);
  execFileSync('mkfifo', [pipe]);
  expect(releaseCommand(folder)).toBe(true);
  expect(existsSync(pipe)).toBe(false);
});

/** The installation's control groups in every hierarchy. */
function installationGroups(): string[] {
  const hierarchies = ['.', ...readdirSync('/sys/fs/cgroup')].map((name) => join('/sys/fs/cgroup', name));
  return hierarchies.map((folder) => join(folder, `carrel-${installation}`)).filter((path) => existsSync(path));
}

it('no control group of an installation outlives its last sandbox, even if that never started', async () => {
  const [one, other] = [await start(), await start()].map((_, index) => ids[index]!);
  if (isRealRoot) expect(installationGroups()).not.toEqual([]);
  await engine.remove(one!, null);
  if (isRealRoot) expect(installationGroups()).not.toEqual([]);
  await engine.stop(other!, null, 0);
  expect(installationGroups()).toEqual([]);
  const missing = { kind: 'bind', source: '/no/such/folder', target: '/given', readonly: true } as const;
  await expect(engine.start(sampleLaunch({ mounts: [missing] }))).rejects.toThrow();
  expect(installationGroups()).toEqual([]);
});

it('a daemon removes at its start the empty control groups that an earlier one left', () => {
  if (!isRealRoot) return;
  const left = join('/sys/fs/cgroup', existsSync('/sys/fs/cgroup/pids') ? 'pids' : '.', `carrel-${installation}`);
  mkdirSync(left);
  const next = openLocalEngine({ folder, installation });
  expect(installationGroups()).toEqual([]);
  return next.dispose();
});
