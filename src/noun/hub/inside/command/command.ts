/**
 * Commands in the project. A command gets a process group and a mark in its environment, by which `process-tree.ts` finds its
 * processes. A time-out, and a client that cancels, end everything that the command started, detached or not. Of test commands
 * the output and the reports are searched for failed tests.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import type { RunCommand, RunResult } from '../../model/spoke.ts';
import { realNames } from '../file/path.ts';
import { type ExitOf, exitOf } from './exit.ts';
import { killTree, markName, signalTree } from './process-tree.ts';
import { failedInReports, TestReport } from './test-report.ts';

const maxTailBytes = 64 * 1024;
const graceMs = 2000;

export async function runCommand(
  root: string,
  { command, cwd, env, timeoutMs, isTest }: RunCommand,
  output: (text: string) => void,
  signal: AbortSignal,
): Promise<RunResult> {
  const folder = join(root, ...realNames(root, cwd, true));
  const report = new TestReport();
  const began = Date.now();
  const running = new Running(command, folder, env, (text) => {
    output(text);
    if (isTest) report.push(text);
  });
  const ended = await running.end(timeoutMs, signal);
  if (isTest) for (const name of failedInReports(folder, began)) report.add(name);
  return { ...ended, failedTests: report.names() };
}

class Running {
  readonly #child: ChildProcess;
  readonly #program: string;
  readonly #mark = randomBytes(8).toString('hex');
  readonly #began = performance.now();
  readonly #stdout: Tail;
  readonly #stderr: Tail;
  #timedOut = false;
  /** The processes that got SIGTERM. */
  #tree: readonly number[] = [];

  constructor(
    command: readonly string[],
    folder: string,
    env: Readonly<Record<string, string>>,
    output: (text: string) => void,
  ) {
    const [program, ...args] = command as [string, ...string[]];
    this.#program = program;
    const child = spawn(program, args, {
      cwd: folder,
      env: { ...process.env, ...env, [markName]: this.#mark },
      stdio: ['ignore', 'pipe', 'pipe'],
      // The command gets its own group, so that processes that it leaves in the background can be killed.
      detached: true,
    });
    this.#child = child;
    this.#stdout = new Tail(child.stdout, output);
    this.#stderr = new Tail(child.stderr, output);
  }

  async end(timeoutMs: number, signal: AbortSignal): Promise<Omit<RunResult, 'failedTests'>> {
    const timer = setTimeout(() => {
      this.#timedOut = true;
      this.#terminate();
    }, timeoutMs);
    const cancel = () => this.#terminate();
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const [exitCode, ended] = await this.#exit();
      return { exitCode, signal: ended, ...this.#result() };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      if (this.#timedOut || signal.aborted) killTree(this.#tree, this.#mark);
      this.#killGroup();
    }
  }

  #result() {
    const [stdout, stderr] = [this.#stdout, this.#stderr];
    const durationMs = Math.round(performance.now() - this.#began);
    const truncated = stdout.truncated || stderr.truncated;
    return { timedOut: this.#timedOut, durationMs, stdout: stdout.text, stderr: stderr.text, truncated };
  }

  async #exit(): Promise<ExitOf> {
    try {
      return await exitOf(this.#child);
    } catch (error) {
      const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'is not in the sandbox' : 'cannot be run';
      throw new Fault('invalid', `${printable(this.#program)} ${why}`, { cause: error });
    }
  }

  /** Sends SIGTERM to all processes. Those left after the grace time, or after the command's end, get SIGKILL. */
  #terminate(): void {
    const { pid } = this.#child;
    this.#tree = signalTree(pid === undefined ? [] : [pid], this.#mark, 'SIGTERM');
    const timer = setTimeout(() => killTree(this.#tree, this.#mark), graceMs);
    timer.unref();
    this.#child.once('exit', () => clearTimeout(timer));
  }

  #killGroup(): void {
    const { pid } = this.#child;
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    } catch {
      // No process of the group is left, ignoring.
    }
  }
}

/** Keeps the end of a stream's text, up to a limit. */
class Tail {
  text = '';
  truncated = false;

  constructor(stream: Readable, output: (text: string) => void) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      this.#add(text);
      output(text);
    });
  }

  #add(more: string): void {
    this.text += more;
    if (this.text.length <= maxTailBytes) return;
    this.text = this.text.slice(-maxTailBytes);
    this.truncated = true;
  }
}
