/** A dockerd of our own: private socket and folders, no network, one image made of a static busybox. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, copyFileSync, mkdirSync, mkdtempSync, openSync, readFileSync, symlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProgram } from '../../src/engine/local/runtime.ts';
import type { Cleanup } from './cleanup.ts';
import { isInstalled, output, timeProgram } from './program.ts';
import type { Measure } from './sample.ts';

export interface Docker {
  readonly run: Measure;
  readonly exec: Measure;
}

const image = 'bench';
const liveName = 'bench-live';
const startMs = 20_000;
const withoutNetwork = ['--network', 'none'];

/** Or why there is none. When it should work and does not, that is an error. */
export async function openDocker(cleanup: Cleanup): Promise<Docker | string> {
  if (!['docker', 'dockerd', 'busybox'].every(isInstalled)) return 'not installed';
  if (process.getuid?.() !== 0) return 'only root can start dockerd';
  const folder = mkdtempSync(join(tmpdir(), 'carrel-bench-docker-'));
  cleanup.add('the folder of dockerd', () => rm(folder, { recursive: true, force: true }));
  const docker = ['docker', '--host', `unix://${folder}/docker.sock`] as const;
  const daemon = startDaemon(folder);
  cleanup.add('dockerd', () => end(daemon));
  await answers(daemon, folder, docker);
  await output([...docker, 'import', await imageArchive(folder), image]);
  await output([...docker, 'run', '--detach', '--name', liveName, ...withoutNetwork, image, 'sleep', '100000']);
  cleanup.add('the container of docker', async () => {
    await output([...docker, 'rm', '--force', liveName]);
  });
  return {
    run: () => timeProgram([...docker, 'run', '--rm', ...withoutNetwork, image, 'echo', 'ready']),
    exec: () => timeProgram([...docker, 'exec', liveName, 'echo', 'ready']),
  };
}

/** In a process group of its own, so that Ctrl-C does not end it before its containers are gone. */
function startDaemon(folder: string): ChildProcess {
  const log = openSync(join(folder, 'log'), 'w');
  const args = [
    ...['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec'), '--pidfile', join(folder, 'pid')],
    ...['--host', `unix://${folder}/docker.sock`, '--bridge=none', '--iptables=false', '--ip6tables=false'],
    ...['--ip-forward=false', '--ip-masq=false'],
  ];
  const child = spawn(findProgram('dockerd')!, args, { stdio: ['ignore', log, log], detached: true });
  closeSync(log);
  return child;
}

async function answers(daemon: ChildProcess, folder: string, docker: readonly [string, ...string[]]): Promise<void> {
  const deadline = Date.now() + startMs;
  for (;;) {
    try {
      await output([...docker, 'version']);
      return;
    } catch {
      if (daemon.exitCode !== null || Date.now() > deadline) {
        const lines = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n');
        throw new Error(`dockerd did not start: ${lines.at(-1)}`);
      }
      await sleep(100);
    }
  }
}

async function imageArchive(folder: string): Promise<string> {
  const programs = join(folder, 'image/bin');
  mkdirSync(programs, { recursive: true });
  copyFileSync(findProgram('busybox')!, join(programs, 'busybox'));
  for (const name of ['sh', 'echo', 'sleep']) symlinkSync('busybox', join(programs, name));
  const archive = join(folder, 'image.tar');
  await output(['tar', '-C', join(folder, 'image'), '-cf', archive, '.']);
  return archive;
}

async function end(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const exited = once(daemon, 'exit');
  daemon.kill('SIGTERM');
  await exited;
}
