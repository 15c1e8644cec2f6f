/**
 * A Carrel installation for a test: a fresh home, the built CLI and the real daemon. `dispose` ends everything that the
 * installation started, and fails if it cannot.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '../../src/client/client.ts';
import { startDaemon } from '../../src/client/connect/start-daemon.ts';
import { installationOf } from '../../src/kernel/home/home.ts';
import { processRef } from '../../src/lib/process/process.ts';
import { isFault } from '../../src/model/fault.ts';
import type { SandboxView } from '../../src/noun/sandbox/api.ts';
import type { ChangesView } from '../../src/noun/workspace/api.ts';
import { type Dockerd, image } from './dockerd.ts';
import { canRunInProcess, isUsed, runInProcess, type Surroundings, startBy } from './in-process.ts';
import { noteInstallation, runEnv } from './run.ts';
import { daemonsOf } from './traces.ts';

export type { SandboxView };

export interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions extends Surroundings {
  readonly timeoutMs?: number;
}

const ownProgram = resolve('bin/carrel');
const commandMs = Number(process.env.CARREL_TEST_COMMAND_MS ?? 90_000);

/** The account that runs the CLI, and with it the daemon. Null: the account that runs the tests. */
export interface Account {
  readonly wrap: (argv: readonly string[]) => readonly string[];
  /** True: a command behaves in the same way without `wrap`. */
  readonly isPlain?: boolean;
  readonly prepareHome: (home: string) => void;
}

export class Installation {
  readonly home: string;
  /** The command of this checkout, or of another installed copy. */
  program = ownProgram;
  readonly #account: Account | null;
  readonly #beside: string;
  /** A file with the crash point at which the daemon is to die. */
  readonly #crashFile: string;
  readonly #dockerd: Pick<Dockerd, 'socketPath'> | null;

  /** With a dockerd, sandboxes are made on it. `place`: the folder for the home and the folders beside it. */
  constructor(
    account: Account | null = null,
    dockerd: Pick<Dockerd, 'socketPath'> | null = null,
    place = tmpdir(),
    homeName = 'home',
  ) {
    this.#dockerd = dockerd;
    this.#beside = mkdtempSync(join(place, 'carrel-test-'));
    this.#account = account;
    chmodSync(this.#beside, 0o755);
    this.home = this.folder(homeName);
    noteInstallation(installationOf(this.home));
    startBy(this.home, () => this.#start());
    this.#crashFile = join(this.folder('crash'), 'at');
    if (dockerd) this.write(`${homeName}/config.yaml`, `docker: {socket: ${dockerd.socketPath}}\nimages: [${image}]\n`);
  }

  /** A folder beside the home that belongs to the account that runs the CLI. */
  folder(name: string): string {
    const path = join(this.#beside, name);
    mkdirSync(path);
    this.#account?.prepareHome(path);
    return path;
  }

  /** A file below the folder that holds the home. */
  write(path: string, content: string): void {
    writeFileSync(join(this.#beside, path), content);
  }

  append(path: string, content: string): void {
    appendFileSync(join(this.#beside, path), content);
  }

  read(path: string): string {
    return readFileSync(join(this.#beside, path), 'utf8');
  }

  removeDatabase(): void {
    for (const name of readdirSync(this.home)) if (name.startsWith('carrel.db')) rmSync(join(this.home, name));
  }

  get client(): Client {
    return new Client(this.home);
  }

  /** A client that starts the daemon if none runs, as the CLI does, in a small part of the time that the CLI takes. */
  get #starting(): Client {
    return new Client(this.home, () => this.#start());
  }

  /** Starts the CLI; the caller handles its streams. */
  spawn(args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd?: string): ChildProcess {
    return this.#spawn([process.execPath, '--', this.program, ...(this.#dockerd ? onDocker(args) : args)], env, cwd);
  }

  #spawn(argv: readonly string[], env: Readonly<Record<string, string>>, cwd: string | undefined): ChildProcess {
    const [file, ...rest] = this.#account ? this.#account.wrap(argv) : argv;
    return spawn(file!, rest, {
      stdio: ['pipe', 'pipe', 'pipe'],
      cwd,
      env: { ...this.#env, ...env },
    });
  }

  get #env(): NodeJS.ProcessEnv {
    const { PATH } = process.env;
    return { PATH, HOME: this.home, CARREL_HOME: this.home, CARREL_CRASH_AT: this.#crashFile, ...runEnv() };
  }

  /** Starts the daemon as a command does that finds none. */
  async #start(): Promise<void> {
    if (this.#canStart) await startDaemon(this.home, undefined, this.#env);
    else await this.ok('up', '-d');
  }

  /** Runs a command of the CLI to its end, in a process if something depends on that. */
  async run(args: readonly string[], options: CliOptions = {}): Promise<Outcome> {
    const all = this.#dockerd ? onDocker(args) : args;
    // The account matters for the owner of the working folder.
    const isAsUs = options.cwd === undefined || this.#account === null;
    const isPlain = this.#isOwn && isAsUs && canRunInProcess(all, options);
    const inProcess = isPlain && (this.#canStart || this.#hasDaemon);
    return (inProcess ? await runInProcess(this.home, all, options) : null) ?? this.process(args, options);
  }

  get #isOwn(): boolean {
    return this.program === ownProgram && (this.#account === null || this.#account.isPlain === true);
  }

  /** The daemon belongs to the account of the process that starts it. */
  get #canStart(): boolean {
    return isUsed && this.program === ownProgram && this.#account === null;
  }

  get #hasDaemon(): boolean {
    return existsSync(join(this.home, 'daemon.lock')) && isRunning(this.daemonPid);
  }

  /** Runs `bin/carrel` to its end. */
  process(args: readonly string[], options: CliOptions = {}): Promise<Outcome> {
    return outcomeOf(this.spawn(args, options.env, options.cwd), options);
  }

  /** Runs a script of bash that finds `carrel` on its PATH. */
  async shell(script: string, cwd: string): Promise<Outcome> {
    const env = { PATH: `${dirname(this.program)}:${process.env.PATH}` };
    return outcomeOf(this.#spawn(['bash', '-c', script], env, cwd), {});
  }

  /** Runs the CLI, which must succeed, and returns what it printed. */
  async ok(...args: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await this.run(args);
    if (exitCode !== 0) throw new Error(`carrel ${args.join(' ')} exited with ${exitCode}: ${stderr}`);
    return stdout;
  }

  /** Creates a sandbox that runs a script. */
  async script(name: string, text: string): Promise<void> {
    await this.ok('create', '--name', name, '--', 'sh', '-c', text);
  }

  show(name: string): Promise<SandboxView> {
    return this.#starting.call('GET /v1/sandboxes/{name}', { path: { name } });
  }

  list(): Promise<SandboxView[]> {
    return this.#starting.call('GET /v1/sandboxes');
  }

  changes(name: string): Promise<ChangesView> {
    return this.#starting.call('POST /v1/sandboxes/{name}/changes', { path: { name }, body: {} });
  }

  async json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.ok('--json', ...args)) as T;
  }

  get daemonPid(): number {
    return Number(readFileSync(join(this.home, 'daemon.lock'), 'utf8'));
  }

  /** Kills the daemon, as a crash would; returns when the process is gone. */
  async killDaemon(): Promise<void> {
    const pid = this.daemonPid;
    process.kill(pid, 'SIGKILL');
    await until(() => !isRunning(pid), 'the daemon to be gone');
  }

  /** Runs a command during which the daemon dies at `point`, and waits for that. */
  async crashDuring(point: string, ...args: string[]): Promise<Outcome> {
    const pid = await this.dieAt(point);
    const outcome = await this.run(args);
    await until(() => !isRunning(pid), `the daemon to die at ${point}`);
    return outcome;
  }

  /** Makes the daemon die at `point`, once. */
  async dieAt(point: string): Promise<number> {
    await this.list();
    writeFileSync(this.#crashFile, point);
    return this.daemonPid;
  }

  /** Disposes of an installation whose daemon never started. */
  forget(): void {
    rmSync(this.#beside, { recursive: true });
  }

  /** Removes all sandboxes. */
  async clear(): Promise<void> {
    await Promise.all((await this.list()).map(({ name }) => this.#remove(name)));
  }

  async dispose(): Promise<void> {
    if (this.#hasDaemon || this.#hasSandboxes) await this.#end();
    await until(() => this.#areOthersGone(), 'other daemons to end');
    await rm(this.#beside, { recursive: true, force: true, maxRetries: 10 });
  }

  /**
   * Returns whether no other daemon is left: a second one that is still starting takes the lock that the first one gave
   * up, and makes the home again.
   */
  async #areOthersGone(): Promise<boolean> {
    if (daemonsOf(this.home).length === 0) return true;
    await this.client.call('POST /v1/shutdown', { body: { all: false } }).catch(() => {});
    return false;
  }

  /** Looks at the folder, since a daemon would have to be started to answer. */
  get #hasSandboxes(): boolean {
    const folder = join(this.home, 'sandboxes');
    return existsSync(folder) && readdirSync(folder).length > 0;
  }

  async #end(): Promise<void> {
    await this.clear();
    const pid = this.daemonPid;
    await this.client.call('POST /v1/shutdown', { body: { all: false } });
    await until(() => !isRunning(pid), 'the daemon to end');
  }

  /** Removes a sandbox, which may have removed itself meanwhile. */
  async #remove(name: string): Promise<void> {
    await this.client.call('DELETE /v1/sandboxes/{name}', { path: { name }, query: { force: true } }).catch((error) => {
      if (!isFault(error, 'not_found')) throw error;
    });
  }
}

async function outcomeOf(child: ChildProcess, { input = '', timeoutMs = commandMs }: CliOptions): Promise<Outcome> {
  child.stdin!.on('error', () => {});
  child.stdin!.end(input);
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  const [stdout, stderr, exitCode] = await Promise.all([text(child.stdout!), text(child.stderr!), ended(child)]);
  clearTimeout(timer);
  return { exitCode, stdout, stderr };
}

/** Adds the engine to a command that makes a sandbox and names none. */
function onDocker(args: readonly string[]): string[] {
  const verb = args.findIndex((arg) => arg === 'run' || arg === 'create');
  const makes = verb >= 0 && args.slice(0, verb).every((arg) => arg === '--json') && !args.includes('--engine');
  return makes ? args.toSpliced(verb + 1, 0, '--engine', 'docker') : [...args];
}

export function isRunning(pid: number): boolean {
  return processRef(pid) !== null;
}

/**
 * Polls for a condition that no event announces. At most a quarter of the time is spent on checks, since other tests
 * run at the same time.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  withinMs = 40_000,
): Promise<void> {
  const end = Date.now() + withinMs;
  for (;;) {
    const from = performance.now();
    if (await condition()) return;
    if (Date.now() > end) throw new Error(`waited ${withinMs} ms in vain for ${what}`);
    await sleep(Math.min(Math.max(10, 3 * (performance.now() - from)), 300));
  }
}

/** Node's fetch may wait for ever for a connection that was closed before its request was sent: each try has an end. */
export async function isServed(url: string | URL): Promise<boolean> {
  return (await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => null))?.ok === true;
}

/** Collects what arrives on a stream from now on; the returned function returns the text so far. */
export function gather(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('utf8');
}

async function text(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? (signal ? 255 : 0)));
  });
}
