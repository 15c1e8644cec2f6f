/**
 * Error messages for a command that could not be started. The init inside and the runtimes write their errors to the
 * command's streams. Output that looks like such an error is buffered until the exit code shows what it is. An init or
 * runtime ends right after its error, so if the command goes on, the output is its own and is shown.
 */
import { Fault } from '../../model/fault.ts';
import type { Sinks } from './receive.ts';

const notFound = 127;
const notExecutable = 126;

/**
 * How errors of init programs (tini, docker-init, catatonit) and runtimes (crun, runc; alone or in an engine) begin.
 */
const foreign =
  /^(\[FATAL tini \(\d+\)\] |ERROR \(catatonit:\d+\): |executable file `|open executable|chdir|execve? |OCI runtime exec failed|Error: .*(crun|runc|OCI runtime|executable file)|.* could not be started\r?\n$)/;
const maxHeldBytes = 8 * 1024;
const maxHeldMs = 1000;

export class StartErrorFilter {
  readonly #sinks: Sinks;
  readonly #held: { readonly to: Sinks['stdout']; readonly chunk: Buffer }[] = [];
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
  get holds(): boolean {
    return this.#held.length > 0;
  }

  async #take(to: Sinks['stdout'], chunk: Buffer): Promise<void> {
    const isForeign = foreign.test(chunk.toString('utf8', 0, maxHeldBytes)) && chunk.length < maxHeldBytes;
    if (!this.#passed && (isForeign || this.#held.length > 0) && this.#held.length < 8) {
      this.#held.push({ to, chunk });
      this.#timer ??= setTimeout(() => void this.#pass(), maxHeldMs);
      return;
    }
    await this.#pass();
    await to(chunk);
  }

  /** Passes the buffered output on, once; later output waits for it. */
  #pass(): Promise<void> {
    clearTimeout(this.#timer);
    this.#passed ??= this.#passHeld();
    return this.#passed;
  }

  async #passHeld(): Promise<void> {
    for (const { to, chunk } of this.#held.splice(0)) await to(chunk);
  }

  /**
   * Called at the end. Returns why the command was not started; otherwise passes the buffered output on and returns
   * null.
   */
  async refusal({ exitCode }: { readonly exitCode: number | null }, command: readonly string[]): Promise<Fault | null> {
    clearTimeout(this.#timer);
    const words = Buffer.concat(this.#held.map(({ chunk }) => chunk)).toString('utf8');
    if (words !== '' && (exitCode === notFound || exitCode === notExecutable)) return startFault(command[0]!, words);
    await this.#pass();
    return null;
  }
}

export function startFault(program: string, words: string): Fault {
  const folder = /chdir[^`"]*[`"]([^`"]*)[`"]/.exec(words)?.[1];
  if (folder !== undefined) {
    return new Fault('not_found', `there is no folder ${folder} in the sandbox to start ${program} in`, {
      hint: 'Name one that is there: --cwd DIR',
    });
  }
  if (/permission denied/i.test(words)) {
    return new Fault('denied', `${program} cannot be run in the sandbox: it is not executable there`, {
      hint: 'Make it executable (chmod +x), or name the program that runs it, such as: sh FILE',
    });
  }
  if (/no such file|not found|could not be started/i.test(words)) {
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
