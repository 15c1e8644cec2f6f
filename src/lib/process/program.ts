/** Programs of the host that process a stream, started by argv and connected by pipes. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { Fault, spaceHint } from '../../model/fault.ts';
import { collect, firstBytes } from './collect.ts';
import { spawnFault } from './run.ts';
import { signalNumber } from './signal.ts';

export interface ProgramEnd {
  readonly exitCode: number;
  readonly stderr: string;
}

export interface Program {
  readonly name: string;
  readonly child: ChildProcess;
  /** Rejects only when the program could not be started. */
  readonly ended: Promise<ProgramEnd>;
}

const maxErrorBytes = 64 * 1024;

/**
 * Starts a program with no environment variable but PATH, since several of these programs take options from others, and
 * in English, so that its output can be parsed.
 */
export function start(argv: readonly [string, ...string[]], stdio: StdioOptions, cwd?: string): Program {
  const [name, ...args] = argv;
  const env = { PATH: process.env.PATH, LC_ALL: 'C' };
  const child = spawn(name, args, { stdio, env, ...(cwd === undefined ? {} : { cwd }) });
  const stderr = child.stderr ? collect(child.stderr, maxErrorBytes) : () => Buffer.alloc(0);
  // A program that ends early breaks the pipe; its exit code says why.
  child.stdin?.on('error', () => {});
  const ended = new Promise<ProgramEnd>((resolve, reject) => {
    child.on('error', (error) => reject(spawnFault(name, error)));
    child.on('close', (code, signal) =>
      resolve({ exitCode: code ?? 128 + signalNumber(signal ?? ''), stderr: `${stderr()}` }),
    );
  });
  ended.catch(() => {});
  return { name, child, ended };
}

/**
 * Runs a program and returns its whole stdout, as bytes, since names need not be text. More than the limit is an error.
 */
export async function outputOf(argv: readonly [string, ...string[]], cwd: string, maxBytes: number): Promise<Buffer> {
  const program = start(argv, ['ignore', 'pipe', 'pipe'], cwd);
  const { stdout } = program.child;
  const output = stdout ? await firstBytes(stdout, maxBytes + 1) : Buffer.alloc(0);
  if (output.length > maxBytes) program.child.kill('SIGKILL');
  await program.ended;
  if (output.length > maxBytes) throw new Fault('exhausted', `${program.name} printed more than ${maxBytes} bytes`);
  return output;
}

/** The Fault for a program that failed, with the first line of its stderr. */
export function failed({ name }: Program, { exitCode, stderr }: ProgramEnd): Fault {
  const reason = stderr.trim().split('\n')[0] || `exit code ${exitCode}`;
  const full = stderr.split('\n').find((line) => /No space left|quota exceeded/.test(line));
  if (full) return new Fault('exhausted', `${name}: ${full}`, { hint: spaceHint });
  return new Fault('internal', `${name}: ${reason.slice(0, 500)}`);
}
