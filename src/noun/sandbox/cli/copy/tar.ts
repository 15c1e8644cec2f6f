/** Runs `tar` on the host, and makes the Faults for a tar that fails on either side. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, pipeline } from 'node:stream';
import type { Sinks, StreamExit } from '../../../../client/stream/stream.ts';
import { Fault } from '../../../../model/fault.ts';

const maxWords = 8192;
/**
 * Makes GNU tar skip the holes of sparse files. It is a variable because other tars ignore it but refuse an unknown
 * option.
 */
export const sparseEnv = { TAR_OPTIONS: '--sparse' };

export interface Tar {
  readonly child: ChildProcess;
  /** The stdout of tar, buffered until it is read. */
  readonly output: PassThrough;
  /** Resolves to the Fault of a failed tar, or null. Never rejects. */
  readonly ended: Promise<Fault | null>;
}

export function packHere(cwd: string, args: readonly string[], sparse: boolean): Promise<Tar> {
  return startTar(cwd, ['-cf', '-', ...args], ['ignore', 'pipe', 'pipe'], sparse ? sparseEnv : {});
}

/** Unpacks without the owners and special bits of the archive: the files belong to the user of this command. */
export function unpackHere(cwd: string): Promise<Tar> {
  return startTar(cwd, ['-xf', '-', '--no-same-owner', '--no-same-permissions'], ['pipe', 'ignore', 'pipe']);
}

/** Collects the output of a program, up to a limit. */
export class CollectedText {
  #text = '';

  readonly add = (chunk: Buffer): void => {
    if (this.#text.length < maxWords) this.#text += chunk.toString('utf8');
  };

  get text(): string {
    return this.#text.slice(0, maxWords).replace(/\n+$/, '');
  }
}

/** Sinks that collect stdout and stderr of a helper program inside, as text. */
export function collectOutput(): { sinks: Sinks; stdout: CollectedText; stderr: CollectedText } {
  const stdout = new CollectedText();
  const stderr = new CollectedText();
  return { sinks: { stdout: stdout.add, stderr: stderr.add }, stdout, stderr };
}

/** The Fault for a program that failed inside. */
export function failedInside(program: string, exit: StreamExit, words: CollectedText): Fault {
  return new Fault('invalid', `${program} in the sandbox: ${words.text || `exit code ${exit.exitCode}`}`);
}

async function startTar(cwd: string, args: string[], stdio: ('ignore' | 'pipe')[], env = {}): Promise<Tar> {
  const child = spawn('tar', args, { cwd, stdio, env: { PATH: process.env.PATH, LC_ALL: 'C', ...env } });
  // Node drops the output of a child that ends before it is read, so it is buffered here.
  const output = new PassThrough();
  if (child.stdout) pipeline(child.stdout, output, () => {});
  const words = new CollectedText();
  child.stderr!.on('data', words.add);
  // A tar that ends early breaks the pipe; `ended` has the reason, ignoring.
  child.stdin?.on('error', () => {});
  await once(child, 'spawn').catch((error: unknown) => {
    throw notStarted(error as NodeJS.ErrnoException);
  });
  const ended = once(child, 'close').then(([code, signal]: unknown[]) =>
    code === 0 ? null : failedHere(words, String(signal ?? `exit code ${code}`)),
  );
  return { child, output, ended };
}

function failedHere(words: CollectedText, how: string): Fault {
  return new Fault('invalid', `tar: ${words.text || how}`);
}

function notStarted(error: NodeJS.ErrnoException): Fault {
  if (error.code !== 'ENOENT') return new Fault('internal', `tar: ${error.message}`, { cause: error });
  return new Fault('unsupported', 'tar is not installed on this machine', { cause: error, hint: 'Install tar.' });
}
