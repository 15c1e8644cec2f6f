/**
 * A dockerd for a test: private socket and folders, no network, one image of a static busybox. It runs in the mount
 * namespace of the tests, so its mounts end with that.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isErrno } from '../../src/lib/file/file.ts';
import { processRef, signalProcess } from '../../src/lib/process/process.ts';
import { run } from '../../src/lib/process/run.ts';
import { markedName } from './run.ts';

export const image = 'carrel-test';

const startMs = 30_000;
const programs = [
  'cat',
  'dd',
  'echo',
  'env',
  'false',
  'head',
  'id',
  'kill',
  'ls',
  'mkdir',
  'mv',
  'printf',
  'pwd',
  'rm',
  'readlink',
];
const more = [
  'grep',
  'sh',
  'sleep',
  'stat',
  'stty',
  'tail',
  'test',
  'touch',
  'tr',
  'true',
  'yes',
  'whoami',
  'mount',
  'chmod',
  'chown',
  'cp',
  'find',
];

export class Dockerd {
  readonly folder: string;
  readonly #extra: readonly string[];
  #daemon: ChildProcess | null = null;

  protected constructor(folder: string, extra: readonly string[] = []) {
    this.folder = folder;
    this.#extra = extra;
  }

  static async open(extra: readonly string[] = []): Promise<Dockerd> {
    const dockerd = new Dockerd(mkdtempSync(join(tmpdir(), 'carrel-dockerd-')), extra);
    // A dockerd that shifts ids requires that its folders can be entered.
    chmodSync(dockerd.folder, 0o711);
    await dockerd.prepare();
    return dockerd;
  }

  protected async prepare(): Promise<void> {
    await this.start();
    await this.docker('import', await imageArchive(this.folder), image);
  }

  /** The control group of its containers, removed with it. */
  get group(): string {
    return markedName(basename(this.folder));
  }

  get socketPath(): string {
    return join(this.folder, 'docker.sock');
  }

  protected command(): [program: string, ...args: string[]] {
    const { folder } = this;
    return [
      'dockerd',
      ...['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec'), '--pidfile', join(folder, 'pid')],
      ...['--host', `unix://${this.socketPath}`, '--bridge=none', '--iptables=false', '--ip6tables=false'],
      ...['--ip-forward=false', '--ip-masq=false', '--cgroup-parent', `/${this.group}`, ...this.#extra],
    ];
  }

  async start(): Promise<void> {
    const log = openSync(join(this.folder, 'log'), 'a');
    const [program, ...args] = this.command();
    this.#daemon = spawn(program, args, { stdio: ['ignore', log, log], detached: true, cwd: this.folder });
    closeSync(log);
    await this.#answers(this.#daemon);
  }

  async #answers(daemon: ChildProcess): Promise<void> {
    const deadline = Date.now() + startMs;
    while ((await this.#run('version')).exitCode !== 0) {
      if (hasEnded(daemon) || Date.now() > deadline) {
        throw new Error(`it did not start: ${readFileSync(join(this.folder, 'log'), 'utf8').slice(-2000)}`);
      }
      await sleep(50);
    }
  }

  /** Without live-restore dockerd ends its containers first. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const daemon = this.#daemon;
    this.#daemon = null;
    if (daemon === null) return;
    if (!hasEnded(daemon)) {
      const exited = once(daemon, 'exit');
      daemon.kill(signal);
      await exited;
    }
    // Its containerd ends with it, and a stale pid file must not make it look alive.
    const containerd = join(this.folder, 'exec/containerd/containerd.pid');
    while (processRef(Number(textOf(containerd))) !== null) await sleep(20);
    for (const path of [join(this.folder, 'pid'), containerd]) rmSync(path, { force: true });
  }

  get isRunning(): boolean {
    return this.#daemon !== null && !hasEnded(this.#daemon);
  }

  get pid(): number {
    return this.#daemon!.pid!;
  }

  async docker(...args: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await this.#run(...args);
    if (exitCode !== 0) throw new Error(`docker ${args.join(' ')}: ${stderr}`);
    return stdout.trim();
  }

  #run(...args: string[]) {
    return run(['docker', '--host', `unix://${this.socketPath}`, ...args]);
  }

  async dispose(): Promise<void> {
    await this.stop();
    // A killed dockerd leaves its containerd with the processes of that.
    await endAll(() => processesOf(this.folder));
    for (const path of mountsBelow(this.folder)) await run(['umount', '--lazy', path]);
    for (const path of groupsNamed(this.group)) await removeGroup(path);
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Removes a control group with the containers in it that outlived their engine. */
async function removeGroup(path: string): Promise<void> {
  const folders = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of folders) await removeGroup(join(path, name));
  const members = () => textOf(join(path, 'cgroup.procs')).split('\n').filter(Boolean).map(Number);
  await endAll(members);
  while (!isRemoved(path)) await sleep(20);
}

/** False: the group is busy, until the last of its members is gone altogether. */
function isRemoved(group: string): boolean {
  try {
    rmdirSync(group);
    return true;
  } catch (error) {
    if (isErrno(error, 'EBUSY')) return false;
    throw error;
  }
}

/** Ends the processes, and those that are started meanwhile; some end by themselves. */
async function endAll(pids: () => readonly number[]): Promise<void> {
  for (let left = pids(); left.length > 0; left = pids()) {
    for (const ref of left.map(processRef)) if (ref) signalProcess(ref, 'SIGKILL');
    await sleep(20);
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Control groups of that name, in every hierarchy or in the only one. */
function groupsNamed(name: string): string[] {
  const root = '/sys/fs/cgroup';
  return [root, ...readdirSync(root).map((hierarchy) => join(root, hierarchy))]
    .map((parent) => join(parent, name))
    .filter((path) => existsSync(path));
}

function processesOf(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => textOf(`/proc/${pid}/cmdline`).includes(`${folder}/`))
    .map(Number);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function mountsBelow(folder: string): string[] {
  const paths = textOf('/proc/self/mountinfo')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '');
  return paths.filter((path) => path.startsWith(`${folder}/`)).reverse();
}

async function imageArchive(folder: string): Promise<string> {
  const root = join(folder, 'image');
  for (const name of ['bin', 'etc', 'tmp', 'scratch']) mkdirSync(join(root, name), { recursive: true });
  for (const name of ['tmp', 'scratch']) chmodSync(join(root, name), 0o1777);
  copyFileSync('/bin/busybox', join(root, 'bin/busybox'));
  for (const name of [...programs, ...more]) symlinkSync('busybox', join(root, 'bin', name));
  const archive = join(folder, 'image.tar');
  const { exitCode, stderr } = await run(['tar', '-C', root, '-cf', archive, '.']);
  if (exitCode !== 0) throw new Error(stderr);
  return archive;
}
