/** The engine of one test, with everything that the test made. */
import { expect, type TestAPI } from 'vitest';
import type {
  Engine,
  ExecSpec,
  Exit,
  Handle,
  Launch,
  LogLine,
  LogOptions,
  Process,
  Started,
} from '../../../src/kernel/engine/engine.ts';
import { Fault, type FaultCode } from '../../../src/model/fault.ts';
import type { Argv, Commands, EngineSetup, SharedFolder } from './setup.ts';
import { Heard, until, within } from './wait.ts';

export interface Made {
  readonly id: string;
  readonly handle: Handle;
  readonly launch: Launch;
  readonly started: Started;
}

export interface Ran {
  readonly exit: Exit;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/** A test that gets a trial of its own. */
export type Case = TestAPI<{ t: Trial }>;

type ExecOptions = Partial<Omit<ExecSpec, 'command'>>;

export class Trial {
  readonly engine: Engine;
  readonly commands: Commands;
  readonly shared: SharedFolder;
  readonly #setup: EngineSetup;
  readonly #open = new Set<Engine>();
  readonly #launched = new Set<string>();

  constructor(setup: EngineSetup) {
    this.#setup = setup;
    this.engine = setup.engine;
    this.commands = setup.commands;
    this.shared = setup.shared;
    this.#open.add(setup.engine);
  }

  async reopen(): Promise<Engine> {
    const engine = await this.#setup.reopen();
    this.#open.add(engine);
    return engine;
  }

  async dispose(engine: Engine): Promise<void> {
    this.#open.delete(engine);
    await engine.dispose();
  }

  launch(overrides: Partial<Launch>): Launch {
    const launch = this.#setup.launch(overrides);
    this.#launched.add(launch.id);
    return launch;
  }

  async start(command: Argv, overrides: Partial<Launch> = {}): Promise<Made> {
    const launch = this.launch({ ...overrides, command });
    const started = await this.engine.start(launch);
    return { id: launch.id, handle: started.handle, launch, started };
  }

  /** Starts a sandbox without a command, for execs. */
  idle(overrides: Partial<Launch> = {}): Promise<Made> {
    return this.start([], overrides);
  }

  /** Starts a sandbox, and waits until its command has written `ready`. */
  async ready(command: Argv, overrides: Partial<Launch> = {}): Promise<Made> {
    const made = await this.start(command, overrides);
    await this.untilReady(made.id);
    return made;
  }

  async untilReady(id: string): Promise<void> {
    const watching = new AbortController();
    await this.follow(id, { signal: watching.signal })
      .has('ready\n')
      .finally(() => watching.abort());
  }

  exec({ id, handle }: Made, command: Argv, options: ExecOptions = {}): Promise<Process> {
    return this.engine.exec(id, handle, { command, env: {}, cwd: '/', stdin: false, terminal: null, ...options });
  }

  /** Runs a command to its end, with `input` as its whole stdin. */
  async run(made: Made, command: Argv, input: Buffer | null = null, options: ExecOptions = {}): Promise<Ran> {
    const process = await this.exec(made, command, { stdin: input !== null, ...options });
    const [stdout, stderr] = [new Heard(process.stdout), new Heard(process.stderr)];
    if (input) process.stdin.end(input);
    const exit = await within('a command to end', process.exited);
    return { exit, stdout: stdout.bytes, stderr: stderr.bytes };
  }

  /** Waits until the sandbox has exited, and returns how. */
  exit({ id, handle }: Pick<Made, 'id' | 'handle'>, engine: Engine = this.engine): Promise<Exit> {
    return until(`sandbox ${id} to exit`, async () => {
      const observed = await engine.inspect(id, handle);
      if (observed.kind === 'absent') throw new Error(`sandbox ${id} is absent, not exited`);
      return observed.kind === 'exited' ? observed.exit : null;
    });
  }

  async kind({ id, handle }: Pick<Made, 'id' | 'handle'>): Promise<string> {
    return (await this.engine.inspect(id, handle)).kind;
  }

  /** The lines that the log holds now. */
  async logs(id: string, tail: number | null = null): Promise<LogLine[]> {
    const lines: LogLine[] = [];
    for await (const line of this.engine.logs(id, { follow: false, tail })) lines.push(line);
    return lines;
  }

  follow(id: string, options: Partial<LogOptions> = {}): Followed {
    return new Followed(this.engine.logs(id, { tail: null, ...options, follow: true }));
  }

  async close(): Promise<void> {
    const engine = this.#open.values().next().value ?? (await this.reopen());
    for (const id of this.#launched) await engine.remove(id, null);
    expect(await engine.list()).toEqual([]);
    for (const one of [...this.#open]) await this.dispose(one);
    await this.#setup.cleanup();
  }
}

/** A log being followed, in the background. */
class Followed {
  readonly done: Promise<void>;
  #text = '';
  #look = () => {};

  constructor(lines: AsyncIterable<LogLine>) {
    this.done = this.#read(lines);
    this.done.catch(() => {});
  }

  async #read(lines: AsyncIterable<LogLine>): Promise<void> {
    for await (const { bytes } of lines) {
      this.#text += bytes.toString();
      this.#look();
    }
  }

  get text(): string {
    return this.#text;
  }

  async has(text: string): Promise<void> {
    const seen = new Promise<void>((resolve) => {
      this.#look = () => this.#text.includes(text) && resolve();
      this.#look();
    });
    const over = this.done.then(() => {
      if (!this.#text.includes(text)) throw new Error(`the log ended without ${JSON.stringify(text)}: ${this.#text}`);
    });
    await within(`${JSON.stringify(text)} in a log`, Promise.race([seen, over]));
  }
}

export async function codeOf(work: Promise<unknown>): Promise<FaultCode> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
  throw new Error('expected a Fault, but nothing was thrown');
}

export function text(lines: readonly LogLine[], stream?: LogLine['stream']): string {
  const wanted = lines.filter((line) => stream === undefined || line.stream === stream);
  return Buffer.concat(wanted.map(({ bytes }) => bytes)).toString();
}

export const succeeded: Exit = { exitCode: 0, signal: null, outOfMemory: false };

export function exitedWith(exitCode: number): Exit {
  return { ...succeeded, exitCode };
}

export function killedBy(signal: NodeJS.Signals, number: number): Exit {
  return { exitCode: 128 + number, signal, outOfMemory: false };
}
