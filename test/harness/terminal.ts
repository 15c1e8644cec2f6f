/** A program on a pseudo-terminal, for typing, pasting and resizing. */
import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { Screen } from '../../src/noun/sandbox/cli/stream/screen/screen.ts';
import { gather, until } from './installation.ts';

const program = resolve('bin/carrel');

export interface TerminalOptions {
  readonly rows?: number;
  readonly columns?: number;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * The keys End and Enter. Right after a letter agents take Enter for a part of a pasted text; after End they do not.
 */
const enter = '\x1b[F\r';

export class Terminal {
  readonly #child: ChildProcess;
  readonly #seen: () => string;
  readonly #screen: Screen;
  /** The exit code of the program. */
  readonly ended: Promise<number>;

  constructor(argv: readonly string[], { rows = 24, columns = 80, cwd, env = {} }: TerminalOptions = {}) {
    const driver = ['test/fixtures/terminal.py', String(rows), String(columns)].map((word, n) =>
      n === 0 ? resolve(word) : word,
    );
    this.#child = spawn('/usr/bin/python3', [...driver, ...argv], {
      stdio: ['pipe', 'pipe', 'inherit'],
      cwd,
      env: { PATH: process.env.PATH, TERM: 'xterm', ...env },
    });
    this.#seen = gather(this.#child.stdout!);
    this.#screen = new Screen(rows, columns);
    this.#child.stdout!.on('data', (chunk: Buffer) => this.#screen.push(chunk));
    this.#child.stdin!.on('error', () => {});
    this.ended = new Promise((settle) => this.#child.on('close', (code) => settle(code ?? 255)));
  }

  /** Everything that was written to the screen so far. */
  get text(): string {
    return this.#seen();
  }

  /** What a person sees: the lines of the screen in its first size. */
  get shown(): string {
    return this.#screen.lines.join('\n');
  }

  type(text: string): void {
    this.#child.stdin!.write(`${JSON.stringify({ type: text })}\n`);
  }

  /**
   * Types a prompt for an agent. Words and Enter are typed again while nothing happens, as a person does: agents drop keys while they
   * start, and gemini loses an Enter while it still draws the words.
   */
  async ask(words: string, isReceived: () => boolean): Promise<void> {
    const pattern = new RegExp(words.replaceAll('.', '\\.'));
    await this.#typeUntil(words, 5000, () => pattern.test(this.shown), `${pattern} on a screen`);
    await this.#typeUntil(enter, 500, isReceived, `a request with ${words}`);
  }

  #typeUntil(text: string, againMs: number, condition: () => boolean, what: string): Promise<void> {
    let typedAt = Number.NEGATIVE_INFINITY;
    return this.#until(() => {
      if (condition()) return true;
      if (performance.now() - typedAt < againMs) return false;
      typedAt = performance.now();
      this.type(text);
      return false;
    }, what);
  }

  resize(rows: number, columns: number): void {
    this.#child.stdin!.write(`${JSON.stringify({ size: [rows, columns] })}\n`);
  }

  /** Kills the program, as when its window is closed. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async has(pattern: RegExp): Promise<void> {
    await until(() => pattern.test(this.text), `${pattern} on a terminal`).catch((error: Error) => {
      throw new Error(`${error.message}, which shows ${JSON.stringify(this.text)}`);
    });
  }

  async shows(pattern: RegExp): Promise<void> {
    await this.#until(() => pattern.test(this.shown), `${pattern} on a screen`);
  }

  async #until(condition: () => boolean, what: string): Promise<void> {
    await until(condition, what).catch((error: Error) => {
      throw new Error(`${error.message}; the screen shows\n${this.shown}`);
    });
  }
}

/** The CLI on a terminal. */
export function carrelOn(home: string, args: readonly string[], options: TerminalOptions = {}): Terminal {
  const env = { HOME: home, CARREL_HOME: home, ...options.env };
  return new Terminal([process.execPath, '--', program, ...args], { ...options, env });
}
