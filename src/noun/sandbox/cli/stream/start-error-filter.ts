/**
 * Error messages for a command that could not be started. The init inside and the runtimes write their errors to the
 * command's streams. Output that looks like such an error is buffered until the exit code shows what it is. An init or
 * runtime ends right after its error, so if the command goes on, the output is its own and is shown.
 */

import type { Sinks } from '../../../../client/stream/stream.ts';
import { Fault } from '../../../../model/fault.ts';

const notFound = 127;
const notExecutable = 126;

/**
 * How errors of init programs (tini, docker-init, catatonit) and runtimes (crun, runc; alone or in an engine) begin.
 */
const foreign =
  /^(\[FATAL tini \(\d+\)\] |ERROR \(catatonit:\d+\): |executable file `|open executable|chdir|execve? |OCI runtime exec failed|Error: .*(crun|runc|OCI runtime|executable file)|.* could not be started\r?\n$)/;
const maxBufferedBytes = 8 * 1024;
const maxBufferedMs = 1000;

export class StartErrorFilter {
  readonly #sinks: Sinks;
  readonly #buffered: { readonly to: Sinks['stdout']; readonly chunk: Buffer }[] = [];
  #passed: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(sinks: Sinks) {
    this.#sinks = sinks;
  }

  /** Sinks that replace the original ones. */
  get sinks(): Sinks {
    return {
      ...this.#sinks,
      stdout: (chunk) => this.#take(this.#sinks.stdout, chunk),
      stderr: (chunk) => this.#take(this.#sinks.stderr, chunk),
    };
  }

  /** Whether output is buffered, so that `refusal` has to decide about it. */
  get isBuffering(): boolean {
    return this.#buffered.length > 0;
  }

  async #take(to: Sinks['stdout'], chunk: Buffer): Promise<void> {
    const isForeign = foreign.test(chunk.toString('utf8', 0, maxBufferedBytes)) && chunk.length < maxBufferedBytes;
    if (!this.#passed && (isForeign || this.#buffered.length > 0) && this.#buffered.length < 8) {
      this.#buffered.push({ to, chunk });
      this.#timer ??= setTimeout(() => void this.#pass(), maxBufferedMs);
      return;
    }
    await this.#pass();
    await to(chunk);
  }

  /** Passes the buffered output on, once; later output waits for it. */
  #pass(): Promise<void> {
    clearTimeout(this.#timer);
    this.#passed ??= this.#passBuffered();
    return this.#passed;
  }

  async #passBuffered(): Promise<void> {
    for (const { to, chunk } of this.#buffered.splice(0)) await to(chunk);
  }

  /**
   * Called at the end. Returns why the command was not started; otherwise passes the buffered output on and returns
   * null.
   */
  async refusal({ exitCode }: { readonly exitCode: number | null }, command: readonly string[]): Promise<Fault | null> {
    clearTimeout(this.#timer);
    const output = Buffer.concat(this.#buffered.map(({ chunk }) => chunk)).toString('utf8');
    if (output !== '' && (exitCode === notFound || exitCode === notExecutable)) return startFault(command[0]!, output);
    await this.#pass();
    return null;
  }
}

export function startFault(program: string, output: string): Fault {
  const folder = /chdir[^`"]*[`"]([^`"]*)[`"]/.exec(output)?.[1];
  if (folder !== undefined) {
    return new Fault('not_found', `there is no folder ${folder} in the sandbox to start ${program} in`, {
      hint: 'Name one that is there: --cwd DIR',
    });
  }
  if (/permission denied/i.test(output)) {
    return new Fault('denied', `${program} cannot be run in the sandbox: it is not executable there`, {
      hint: 'Make it executable (chmod +x), or name the program that runs it, such as: sh FILE',
    });
  }
  if (/no such file|not found|could not be started/i.test(output)) {
    return new Fault('not_found', `there is no program ${program} in the sandbox`, { hint: whereFrom(program) });
  }
  return new Fault('not_found', `${program} could not be started in the sandbox`, { hint: whereFrom(program) });
}

function whereFrom(program: string): string {
  if (program.includes(' '))
    return 'A program and its arguments are words of their own; for a line of shell: sh -c LINE';
  if (program.includes('/')) return 'A path is one inside the sandbox: the project is /workspace there.';
  return `Programs come from /usr of this machine, or from the image; a file of the project is called by path: ./${program}`;
}
