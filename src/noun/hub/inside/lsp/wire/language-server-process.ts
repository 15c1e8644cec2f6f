/** The process of a language server: a process group of its own, the end of what it wrote to stderr, and its end. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

const maxErrorBytes = 2000;
const graceMs = 1000;

export class LanguageServerProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves to how the process ended, after its group was killed. */
  readonly ended: Promise<string>;
  /** Whether the process has written anything since this was last set to false. */
  isTalking = false;
  #stderr = '';

  constructor([program = '', ...args]: readonly string[], cwd: string) {
    this.#child = spawn(program, args, { cwd, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
    ({ stdin: this.stdin, stdout: this.stdout } = this.#child);
    this.stdout.on('data', () => {
      this.isTalking = true;
    });
    // `ended` reports the end of the process, ignoring.
    this.stdin.on('error', () => {});
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = `${this.#stderr}${text}`.slice(-maxErrorBytes);
    });
    this.ended = this.#end();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  async #end(): Promise<string> {
    const how = await new Promise<string>((resolve) => {
      this.#child.once('error', (error) => resolve(error.message));
      this.#child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
    });
    this.#signal('SIGKILL');
    this.stdout.destroy();
    const output = this.#stderr.trim();
    return output === '' ? how : `${how}: ${output}`;
  }

  async stop(): Promise<void> {
    this.stdin.end();
    this.#signal('SIGTERM');
    const timer = setTimeout(() => this.#signal('SIGKILL'), graceMs);
    await this.ended;
    clearTimeout(timer);
  }

  kill(): void {
    this.#signal('SIGKILL');
  }

  #signal(name: NodeJS.Signals): void {
    try {
      if (this.pid !== undefined) process.kill(-this.pid, name);
    } catch {
      // No process of the group is left, ignoring.
    }
  }
}
