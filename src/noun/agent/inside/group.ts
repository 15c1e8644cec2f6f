/**
 * The processes of an agent: a process group. Processes that left the group are found by a variable in their
 * environment, or by their working folder in the agent's checkout, because programs that change their title overwrite
 * their environment. When the first process has ended, the others are stopped.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { signalNumber } from '../../../lib/process/signal.ts';
import { AdapterError } from './adapter-error.ts';
import { notInstalled } from './program.ts';

export interface GroupOptions {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** True: other processes work in the folder, too, so it does not identify the agent's processes. */
  readonly isSharedFolder?: boolean;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

const stopGraceMs = 5000;
/** Time-out for streams that stay open because a process cannot be killed. */
const drainMs = 1000;
const pollMs = 20;
const markName = 'CARREL_AGENT_RUN';

export class Group {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The exit code, or 128 plus the signal; resolves when all processes have ended. */
  readonly ended: Promise<number>;
  readonly #child: Child;
  readonly #mark: string;
  readonly #folder: string | null;
  #stopping: Promise<void> | undefined;

  constructor({ command: [file = '', ...args], cwd, env, isSharedFolder = false }: GroupOptions) {
    this.#mark = `${markName}=${randomUUID()}`;
    this.#folder = isSharedFolder ? null : cwd;
    const [, mark] = this.#mark.split('=');
    this.#child = spawn(file, args, {
      cwd,
      env: { ...env, [markName]: mark },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    // Without free descriptors, `spawn` returns no streams.
    if (!this.#child.stdin) throw new AdapterError('UNKNOWN_ERROR', `the agent's program ${file} cannot be started`);
    ({ stdin: this.stdin, stdout: this.stdout, stderr: this.stderr } = this.#child);
    // The agent may end before it has read its input, ignoring.
    this.stdin.on('error', () => {});
    this.ended = this.#end(file);
    this.ended.catch(() => {});
  }

  /** Id of the first process and of its group. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Sends SIGTERM to all processes, and SIGKILL to those that are left after the grace time. */
  stop(graceMs = stopGraceMs): Promise<void> {
    this.#stopping ??= this.#stop(graceMs);
    return this.#stopping;
  }

  async #stop(graceMs: number): Promise<void> {
    if (this.#child.pid === undefined) return;
    const deadline = performance.now() + graceMs;
    this.#signal('SIGTERM');
    while (this.#isLeft() && performance.now() < deadline) await pause(pollMs);
    // A process may fork during the search.
    for (let tries = 0; this.#isLeft() && tries < 100; tries += 1) {
      this.#signal('SIGKILL');
      await pause(pollMs);
    }
  }

  async #end(file: string): Promise<number> {
    const exitCode = await new Promise<number>((resolve, reject) => {
      this.#child.on('error', (error) => reject(notStarted(file, error)));
      this.#child.on('exit', (code, signal) => resolve(code ?? 128 + signalNumber(signal ?? '')));
    });
    const closed = Promise.all([this.stdout, this.stderr].map(streamClosed));
    if (this.#isLeft()) await this.stop();
    await Promise.race([closed, pause(drainMs)]);
    for (const stream of [this.stdin, this.stdout, this.stderr]) stream.destroy();
    return exitCode;
  }

  #signal(name: NodeJS.Signals): void {
    for (const target of [-this.#child.pid!, ...this.#strays()]) kill(target, name);
  }

  #isLeft(): boolean {
    const running = this.#child.exitCode === null && this.#child.signalCode === null;
    return running || kill(-this.#child.pid!, 0) || this.#strays().length > 0;
  }

  /** Processes that have the mark or work in the folder, also those that left the group. */
  #strays(): number[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => hasMark(pid, this.#mark) || isInside(pid, this.#folder))
      .map(Number);
  }
}

function streamClosed(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.readableEnded || stream.destroyed) resolve();
    stream.once('close', resolve);
    stream.once('end', resolve);
  });
}

/** An environment ends with a zero byte after each variable; that of a zombie is empty. */
function hasMark(pid: string, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`).includes(`${mark}\0`);
  } catch {
    return false;
  }
}

function isInside(pid: string, folder: string | null): boolean {
  if (folder === null) return false;
  try {
    return `${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${folder}/`);
  } catch {
    return false;
  }
}

/** False: there is no such process, or no permission. Zombies of a group count until they are reaped. */
function kill(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch {
    return false;
  }
}

function notStarted(file: string, error: NodeJS.ErrnoException): AdapterError {
  if (error.code === 'ENOENT') return notInstalled(file);
  return new AdapterError('AGENT_CRASH', `the agent's program ${file} cannot be started: ${error.message}`);
}
