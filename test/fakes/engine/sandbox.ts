/** One sandbox of the fake engine: its command, its execs, and the attached consoles. */
import { PassThrough, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Console, ExecSpec, Exit, Launch, Process, Started, Stats } from '../../../src/kernel/engine/engine.ts';
import { FakeLog } from './log.ts';
import { type Deliver, exitOf, FakeProcess, type Programs, writeAndDrain } from './process.ts';
import { forever } from './program.ts';

export type Phase = 'created' | 'running' | 'paused' | 'exited';

interface Streams {
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
}

const idle = 'idle';
const bytesPerProcess = 1024 ** 2;

export class FakeSandbox {
  readonly launch: Launch;
  readonly started: Started;
  readonly log = new FakeLog();
  readonly #programs: Programs;
  readonly #changed: () => void;
  readonly #attached = new Set<Streams>();
  readonly #processes = new Set<FakeProcess>();
  #command: FakeProcess | null = null;
  #phase: Phase = 'created';
  #exit: Exit = exitOf(0);
  #pausedBy: object | null = null;
  #unpaused = Promise.resolve();
  #wake = () => {};

  constructor(launch: Launch, started: Started, programs: Programs, changed: () => void) {
    this.launch = launch;
    this.started = started;
    this.#programs = { ...programs, [idle]: forever };
    this.#changed = changed;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** The engine that paused it; null when it is not paused, or was paused from outside. */
  get pausedBy(): object | null {
    return this.#pausedBy;
  }

  /** Settles when a pause by an engine is over. */
  get unpaused(): Promise<void> | null {
    return this.#pausedBy && this.#unpaused;
  }

  get exit(): Exit {
    return this.#exit;
  }

  get stats(): Stats {
    const pids = this.#processes.size;
    return { cpuSeconds: pids / 100, memoryBytes: pids * bytesPerProcess, pids };
  }

  begin(): void {
    const { command, env, cwd, stdin, terminal } = this.launch;
    const spec: ExecSpec = {
      ...{ command: command.length === 0 ? [idle] : command, env, cwd, terminal },
      stdin: stdin || terminal !== null,
    };
    this.#phase = 'running';
    this.#command = this.#spawn(spec, (stream, chunk) => this.#record(stream, chunk));
    this.#command.ended.then((exit) => this.finish(exit));
  }

  #spawn(spec: ExecSpec, deliver: Deliver): FakeProcess {
    const process = new FakeProcess(this.#programs, spec, async (stream, chunk) => {
      await this.#unpaused;
      await deliver(stream, chunk);
    });
    this.#processes.add(process);
    process.ended.then(() => this.#processes.delete(process));
    return process;
  }

  async #record(stream: 'stdout' | 'stderr', chunk: Buffer): Promise<void> {
    this.log.append(stream, chunk);
    await Promise.all([...this.#attached].map((streams) => writeAndDrain(streams[stream], chunk)));
  }

  /** Ends the sandbox with all its processes. Later calls have no effect. */
  finish(exit: Exit): void {
    if (this.#phase === 'exited') return;
    this.resume();
    this.#phase = 'exited';
    this.#exit = exit;
    for (const process of this.#processes) process.end('SIGKILL');
    for (const streams of this.#attached) endStreams(streams);
    this.#attached.clear();
    this.log.close();
    this.#changed();
  }

  /** A paused program stops at its next write. */
  pause(by: object | null): void {
    this.#phase = 'paused';
    this.#pausedBy = by;
    this.#unpaused = new Promise((resolve) => {
      this.#wake = resolve;
    });
    if (by === null) this.#changed();
  }

  resume(): void {
    if (this.#phase === 'paused') this.#phase = 'running';
    this.#pausedBy = null;
    this.#wake();
  }

  /** Settles when the sandbox has ended. */
  async stop(graceMs: number): Promise<void> {
    const command = this.#command;
    if (!command || this.#phase === 'exited') return;
    if (this.#phase === 'running' && graceMs > 0) command.signal('SIGTERM');
    const timer = setTimeout(() => command.end('SIGKILL'), this.#phase === 'running' ? graceMs : 0);
    this.finish(await command.ended);
    clearTimeout(timer);
  }

  exec(spec: ExecSpec): Process {
    const streams = newStreams();
    const env = { ...this.launch.env, ...spec.env };
    const process = this.#spawn({ ...spec, env }, (stream, chunk) => writeAndDrain(streams[stream], chunk));
    const exited = process.ended.then(async (exit) => {
      endStreams(streams);
      await Promise.all([finished(streams.stdout), finished(streams.stderr)].map((done) => done.catch(() => {})));
      return exit;
    });
    return {
      stdin: process.stdin,
      ...streams,
      resize: async (rows, columns) => process.resize(rows, columns),
      signal: async (name) => process.signal(name),
      detach: () => {
        process.stdin.end();
        closeStreams(streams);
      },
      exited,
    };
  }

  /** A console passes the end of its stdin on to the command only if it was opened at the start. */
  attach(): Console {
    const streams = newStreams();
    if (this.#phase === 'exited') endStreams(streams);
    else this.#attached.add(streams);
    return {
      stdin: new Writable({
        write: (chunk: Buffer, _encoding, done) => void this.#type(chunk).then(() => done(), done),
        final: (done) => {
          if (this.launch.console && !this.launch.terminal) this.#command?.stdin.end();
          done();
        },
      }),
      ...streams,
      resize: async (rows, columns) => this.#command?.resize(rows, columns),
      detach: () => {
        this.#attached.delete(streams);
        closeStreams(streams);
      },
    };
  }

  async #type(chunk: Buffer): Promise<void> {
    if (this.#command) await writeAndDrain(this.#command.stdin, chunk);
  }
}

function newStreams(): Streams {
  return { stdout: new PassThrough(), stderr: new PassThrough() };
}

function endStreams({ stdout, stderr }: Streams): void {
  stdout.end();
  stderr.end();
}

function closeStreams(streams: Streams): void {
  endStreams(streams);
  streams.stdout.resume();
  streams.stderr.resume();
}
