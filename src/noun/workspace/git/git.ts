/**
 * Runs git by argv without anything of the daemon's environment: no configuration of the machine or the user, no hooks,
 * no prompts, no network. The output of git is bytes.
 */

import type { Readable, Writable } from 'node:stream';
import { onCancel } from '../../../lib/flow/cancel.ts';
import { collect } from '../../../lib/process/collect.ts';
import { type PipedProgram, startPiped } from '../../../lib/process/piped-program.ts';
import { runSync } from '../../../lib/process/run-sync.ts';
import { type BytePath, toBytes } from '../../../model/byte-path.ts';
import { Fault, spaceHint } from '../../../model/fault.ts';
import type { Entry } from '../model/change.ts';

/** A repository, and the account and settings for git in it. */
export interface Git {
  readonly cwd: string;
  readonly args: readonly string[];
  /** Undefined: without this variable. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Undefined: the account of the daemon. */
  readonly uid?: number;
  readonly gid?: number;
}

export interface GitResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface GitRunOptions {
  /** A number is an open file, read from its present offset. */
  readonly input?: Buffer | string | number;
  readonly env?: Readonly<Record<string, string>>;
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
  /** Resource limits; git is killed if it exceeds them. */
  readonly limits?: GitLimits;
}

export interface GitLimits {
  /** The largest size of each file that git writes. */
  readonly fileBytes: number;
  readonly cpuSeconds: number;
}

const defaultMaxBytes = 256 * 1024 ** 2;
const defaultTimeoutMs = 600_000;
const maxErrorBytes = 64 * 1024;

/** The whole environment of git. */
export const plainEnv: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: 'true',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  // No transport at all. A repository's configuration cannot change this, while it could override `protocol.allow`.
  GIT_ALLOW_PROTOCOL: '',
  GIT_NO_REPLACE_OBJECTS: '1',
};

const running = new Set<PipedProgram>();

// Ends every git that this thread has started.
onCancel(() => {
  for (const program of running) program.kill('SIGTERM');
});

export interface GitChild {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The exit code and stderr of git, when it has ended and closed its output. Never rejects. */
  readonly ended: Promise<{ readonly exitCode: number; readonly stderr: string; readonly fault: Fault | null }>;
  readonly kill: () => void;
}

/** Starts git with pipes on both sides. */
export function startGit(git: Git, args: readonly string[], options: GitRunOptions = {}): GitChild {
  const { timeoutMs = defaultTimeoutMs } = options;
  const program = startProgram(git, args, options);
  running.add(program);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    program.kill('SIGKILL');
  }, timeoutMs);
  const stderr = collect(program.stderr, maxErrorBytes);
  const late = () => (isLate ? new Fault('timeout', `git ${args[0]} did not end within ${timeoutMs} ms`) : null);
  const ended = program.ended
    .then(
      (exitCode) => ({ exitCode, stderr: stderr().toString('utf8'), fault: late() }),
      (fault: Fault) => ({ exitCode: 127, stderr: '', fault }),
    )
    .finally(() => {
      clearTimeout(timer);
      running.delete(program);
    });
  return { stdin: program.stdin!, stdout: program.stdout, ended, kill: () => program.kill('SIGTERM') };
}

function startProgram(git: Git, args: readonly string[], { input, env, limits }: GitRunOptions): PipedProgram {
  const [file, ...argv] = [...limited(limits), 'git', ...git.args, ...args] as [string, ...string[]];
  return startPiped(file, argv, {
    cwd: git.cwd,
    env: { ...plainEnv, ...git.env, ...env },
    input: typeof input === 'number' ? input : undefined,
    uid: git.uid,
    gid: git.gid,
  });
}

function limited(limits: GitLimits | undefined): string[] {
  if (limits === undefined) return [];
  const { fileBytes, cpuSeconds } = limits;
  return ['prlimit', `--fsize=${Math.ceil(fileBytes)}`, `--cpu=${Math.ceil(cpuSeconds)}`, '--core=0', '--'];
}

/** Runs git to its end, whatever its exit code. */
export async function runGit(git: Git, args: readonly string[], options: GitRunOptions = {}): Promise<GitResult> {
  const { maxBytes = defaultMaxBytes, input } = options;
  const child = startGit(git, args, options);
  const stdout = collect(child.stdout, maxBytes + 1);
  if (typeof input !== 'number') child.stdin.end(input ?? '');
  const { exitCode, stderr, fault } = await child.ended;
  if (fault !== null) throw fault;
  const output = stdout();
  if (output.length > maxBytes) throw new Fault('exhausted', `git ${args[0]} printed more than ${maxBytes} bytes`);
  return { exitCode, stdout: output, stderr };
}

const syncMs = 10_000;

/** Runs git and blocks this thread meanwhile; meant for a few names. */
export function runGitSync(
  git: Git,
  args: readonly string[],
  { input = Buffer.of(), env = {} }: { readonly input?: Buffer; readonly env?: Readonly<Record<string, string>> } = {},
): Omit<GitResult, 'stderr'> {
  return runSync('git', [...git.args, ...args], {
    cwd: git.cwd,
    env: { ...plainEnv, ...git.env, ...env },
    input,
    timeoutMs: syncMs,
    maxBytes: defaultMaxBytes,
    uid: git.uid,
    gid: git.gid,
  });
}

/** Runs git and returns its output; a failure is a Fault with that code and the message of git. */
export async function gitOutput(
  git: Git,
  args: readonly string[],
  options: GitRunOptions & { readonly code?: Fault['code'] } = {},
): Promise<Buffer> {
  const { exitCode, stdout, stderr } = await runGit(git, args, options);
  if (exitCode !== 0) throw gitFault(args, stderr, options.code);
  return stdout;
}

export function gitFault(args: readonly string[], stderr: string, code: Fault['code'] = 'internal'): Fault {
  const words = stderr.trim().split('\n').slice(-3).join('; ').slice(0, 500);
  if (/No space left on device|Out of diskspace|quota exceeded/i.test(stderr))
    return new Fault('exhausted', `git ${args[0]} failed: no space left`, { hint: spaceHint });
  return new Fault(code, `git ${args[0]} failed: ${words || 'no message'}`);
}

/** The mode as git writes it: git stores one bit. */
export function gitMode({ type, mode }: Entry): string {
  if (type === 'link') return '120000';
  return (mode & 0o100) === 0 ? '100644' : '100755';
}

const batchBytes = 64 * 1024;

/** Writes everything in a few large writes, which is faster than one write per piece, and closes. */
export async function feed(stdin: Writable, pieces: Iterable<Buffer>): Promise<void> {
  let batch: Buffer[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    batch.push(piece);
    bytes += piece.length;
    if (bytes < batchBytes) continue;
    if (!stdin.write(Buffer.concat(batch))) await hasRoom(stdin);
    // The reader has ended.
    if (stdin.destroyed) return;
    batch = [];
    bytes = 0;
  }
  stdin.end(Buffer.concat(batch));
}

function hasRoom(stdin: Writable): Promise<void> {
  return new Promise((resolve) => {
    if (stdin.destroyed) resolve();
    const done = () => {
      stdin.off('drain', done);
      stdin.off('close', done);
      resolve();
    };
    stdin.on('drain', done);
    stdin.on('close', done);
  });
}

const shortEscapes: Readonly<Record<number, string>> = {
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
  34: '\\"',
  92: '\\\\',
};

/** A name in double quotes, as C and git write it: printable ASCII only. */
export function quoted(name: BytePath): string {
  if (isPlain(name)) return `"${name}"`;
  let text = '"';
  for (const byte of toBytes(name))
    text +=
      shortEscapes[byte] ??
      (byte < 0x20 || byte > 0x7e ? `\\${byte.toString(8).padStart(3, '0')}` : String.fromCharCode(byte));
  return `${text}"`;
}

/** A name as git prints it: quoted only where it has to be. */
export function quoteName(name: BytePath): string {
  return isPlain(name) ? name : quoted(name);
}

function isPlain(name: BytePath): boolean {
  return /^[ !#-[\]-~]*$/.test(name);
}
