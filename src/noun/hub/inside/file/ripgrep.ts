/** A run of ripgrep that reports what it finds in lines of JSON. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { Fault } from '../../../../model/fault.ts';

const maxErrorBytes = 2000;

export class Ripgrep {
  readonly lines: AsyncIterable<string>;
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #ended: Promise<number | null>;
  #stderr = '';
  isStopped = false;

  constructor(folder: string, args: readonly string[], signal: AbortSignal) {
    this.#child = spawn('rg', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], signal });
    this.#ended = new Promise((resolve, reject) => this.#child.once('error', reject).once('close', resolve));
    this.#ended.catch(() => {});
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = `${this.#stderr}${chunk}`.slice(0, maxErrorBytes);
    });
    this.lines = createInterface({ input: this.#child.stdout });
  }

  stop(): void {
    this.isStopped = true;
    this.#child.kill();
  }

  /** Ends ripgrep. Resolves to its error message, for example about an invalid pattern; null: there was no error. */
  async end(): Promise<string | null> {
    this.#child.kill();
    const code = await this.#ended.catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      throw new Fault('unsupported', 'ripgrep (rg) is not installed in the sandbox', {
        hint: 'Install it on the machine, or in the image of the sandbox: apt-get install ripgrep',
      });
    });
    return code === 2 ? this.#stderr.trim() : null;
  }
}
