/** A process of the fake engine: a small program in TypeScript with streams, signals and a terminal size. */
import { constants } from 'node:os';
import { PassThrough, type Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { ExecSpec, Exit } from '../../../src/kernel/engine/engine.ts';

/** An exit code, or the signal that ended it. */
export type End = number | NodeJS.Signals;

/** What a program sees of its sandbox. */
export interface ProgramSurroundings {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  terminal(): ExecSpec['terminal'];
  /** Handles a signal instead of ending. SIGKILL cannot be handled. */
  onSignal(name: NodeJS.Signals, act: () => void): void;
}

export type FakeProgram = (inside: ProgramSurroundings) => End | Promise<End>;
export type Programs = Readonly<Record<string, FakeProgram>>;

/** Passes output on; settles when the reader is ready for more. */
export type Deliver = (stream: 'stdout' | 'stderr', chunk: Buffer) => Promise<void>;

const ignoredByDefault: readonly string[] = ['SIGCHLD', 'SIGCONT', 'SIGURG', 'SIGWINCH'];

export class FakeProcess {
  readonly stdin = new PassThrough();
  readonly ended: Promise<Exit>;
  readonly #acts = new Map<NodeJS.Signals, () => void>();
  #terminal: ExecSpec['terminal'];
  #kill: (end: End) => void = () => {};
  #over = false;

  constructor(programs: Programs, spec: ExecSpec, deliver: Deliver) {
    this.#terminal = spec.terminal;
    if (!spec.stdin) this.stdin.end();
    const killed = new Promise<End>((resolve) => {
      this.#kill = resolve;
    });
    this.ended = Promise.race([killed, this.#run(programs, spec, deliver)]).then((end) => {
      this.#over = true;
      return exitOf(end);
    });
  }

  async #run(programs: Programs, spec: ExecSpec, deliver: Deliver): Promise<End> {
    const [name = '', ...args] = spec.command;
    const stdout = this.#output((chunk) => deliver('stdout', chunk));
    const stderr = spec.terminal ? stdout : this.#output((chunk) => deliver('stderr', chunk));
    const program = Object.hasOwn(programs, name) ? programs[name]! : notFound(name);
    const end = await program({
      args,
      env: spec.env,
      cwd: spec.cwd,
      stdin: this.stdin,
      stdout,
      stderr,
      terminal: () => this.#terminal,
      onSignal: (signal, act) => this.#acts.set(signal, act),
    });
    await Promise.all([stdout, stderr].map((stream) => finished(stream.end())));
    return end;
  }

  #output(take: (chunk: Buffer) => Promise<void>): Writable {
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        // A program that was killed writes nothing more.
        if (!this.#over) take(chunk).then(() => done(), done);
      },
    });
  }

  signal(name: NodeJS.Signals): void {
    const act = name === 'SIGKILL' ? undefined : this.#acts.get(name);
    if (act) act();
    else if (!ignoredByDefault.includes(name)) this.end(name);
  }

  /** Ends the process from outside. */
  end(how: End): void {
    this.#kill(how);
  }

  resize(rows: number, columns: number): void {
    if (this.#terminal === null) return;
    this.#terminal = { rows, columns };
    this.signal('SIGWINCH');
  }
}

/** Writes and waits for the buffer to drain; does nothing on a stream that was closed. */
export async function writeAndDrain(stream: Writable, chunk: Buffer): Promise<void> {
  if (stream.destroyed || stream.writableEnded || stream.write(chunk)) return;
  await new Promise<void>((resolve) => {
    const events = ['drain', 'finish', 'close'];
    const settle = () => {
      for (const event of events) stream.off(event, settle);
      resolve();
    };
    for (const event of events) stream.on(event, settle);
  });
}

export function exitOf(end: End): Exit {
  if (typeof end === 'number') return { exitCode: end, signal: null, outOfMemory: false };
  return { exitCode: 128 + constants.signals[end], signal: end, outOfMemory: false };
}

function notFound(name: string): FakeProgram {
  return ({ stderr }) => {
    stderr.write(`${name}: command not found\n`);
    return 127;
  };
}
