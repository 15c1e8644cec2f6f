/**
 * Starts programs without a copy of this process. Node forks: the kernel copies the page tables of the daemon, and afterwards every page
 * that the daemon writes to, which takes longer than the program needs to load. With posix_spawn the child borrows the memory until it
 * is the program. Where that cannot be done, Node starts it.
 */
import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { libc, SysError } from './libc.ts';
import { spawnFault } from './run.ts';
import { signalNumber } from './signal.ts';

export interface ProgramOptions {
  /** The descriptors that it gets as 0, 1, 2 and so on; null: /dev/null. They stay open here. */
  readonly stdio: readonly (number | null)[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** A child process. It has no supplementary groups, no other descriptors, and the usual handlers of signals. */
export interface Program {
  /** The end by a signal is 128 plus its number. A program that could not be started is a Fault. */
  readonly exited: Promise<number>;
  readonly hasEnded: () => boolean;
  kill(signal: NodeJS.Signals): void;
}

/** `file` is a path. */
export function startProgram(file: string, args: readonly string[], options: ProgramOptions): Program {
  const program = canBorrow(options) ? borrowed(file, args, options) : forked(file, args, options);
  // A caller that is interested in the end waits for it.
  program.exited.catch(() => {});
  return program;
}

/** Ends are reported to the main thread only, posix_spawn cannot drop groups, and it moves one descriptor after the other. */
function canBorrow({ stdio }: ProgramOptions): boolean {
  return isMainThread && c !== null && !hasGroups() && stdio.every((fd) => fd === null || fd >= stdio.length);
}

/** Node lists the effective group, too. */
function hasGroups(): boolean {
  return process.getgroups?.().some((group) => group !== process.getegid?.()) ?? true;
}

function forked(file: string, args: readonly string[], { stdio, env, cwd }: ProgramOptions): Program {
  const child = spawn(file, args, {
    stdio: stdio.map((fd) => fd ?? 'ignore'),
    env: { ...env },
    cwd,
    // Node drops the groups of a child whose ids are set, even to the same ids.
    ...{ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
  });
  const exited = new Promise<number>((resolve, reject) => {
    child.on('error', (error) => reject(spawnFault(basename(file), error)));
    child.on('exit', (code, signal) => resolve(code ?? 128 + signalNumber(signal ?? '')));
  });
  const hasEnded = () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
  return { exited, hasEnded, kill: (signal) => void child.kill(signal) };
}

const c = calls();

/** Null: this C library has no such calls. */
function calls() {
  try {
    return {
      spawn: libc(
        'int posix_spawn(_Out_ int *pid, const char *path, const void *actions, const void *attributes, const char **argv, const char **env)',
      ),
      initActions: libc('int posix_spawn_file_actions_init(void *actions)'),
      addDup2: libc('int posix_spawn_file_actions_adddup2(void *actions, int from, int to)'),
      addOpen: libc(
        'int posix_spawn_file_actions_addopen(void *actions, int fd, const char *path, int flags, int mode)',
      ),
      addChdir: libc('int posix_spawn_file_actions_addchdir_np(void *actions, const char *path)'),
      destroyActions: libc('int posix_spawn_file_actions_destroy(void *actions)'),
      initAttributes: libc('int posix_spawnattr_init(void *attributes)'),
      setFlags: libc('int posix_spawnattr_setflags(void *attributes, short flags)'),
      setDefaults: libc('int posix_spawnattr_setsigdefault(void *attributes, const void *set)'),
      setMask: libc('int posix_spawnattr_setsigmask(void *attributes, const void *set)'),
      waitpid: libc('int waitpid(int pid, _Out_ int *status, int flags)'),
    };
  } catch {
    return null;
  }
}

type Calls = NonNullable<typeof c>;

/** More than any C library has in these structures: 80, 336 and 128 bytes in glibc and musl. */
const structBytes = 1024;

function borrowed(file: string, args: readonly string[], { stdio, env, cwd }: ProgramOptions): Program {
  const actions = Buffer.alloc(structBytes);
  const given = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : `${name}=${value}`));
  const pid = [0];
  check('posix_spawn_file_actions_init', c!.initActions(actions));
  try {
    for (const [target, fd] of stdio.entries()) direct(c!, actions, target, fd);
    check('posix_spawn_file_actions_addchdir_np', c!.addChdir(actions, cwd));
    listen();
    const argv = [file, ...args, null];
    const failure = c!.spawn(pid, file, actions, usualSignals(c!), argv, [...given, null]);
    return failure === 0 ? child(pid[0]!) : failed(file, new SysError('spawn', failure));
  } finally {
    c!.destroyActions(actions);
  }
}

function direct({ addDup2, addOpen }: Calls, actions: Buffer, target: number, fd: number | null): void {
  const O_RDWR = 2;
  if (fd === null) check('posix_spawn_file_actions_addopen', addOpen(actions, target, '/dev/null', O_RDWR, 0));
  else check('posix_spawn_file_actions_adddup2', addDup2(actions, fd, target));
}

/** These calls return the number of an error. */
function check(call: string, failure: number): void {
  if (failure !== 0) throw new SysError(call, failure);
}

let attributes: Buffer | null = null;

/** Node ignores some signals, which a program would inherit. */
function usualSignals({ initAttributes, setFlags, setDefaults, setMask }: Calls): Buffer {
  if (attributes !== null) return attributes;
  const [SETSIGDEF, SETSIGMASK] = [4, 8];
  const [made, none] = [Buffer.alloc(structBytes), Buffer.alloc(structBytes)];
  // Not by sigfillset, which leaves out those of the C library; posix_spawn would have them ignored.
  const all = Buffer.alloc(structBytes, 0xff);
  check('posix_spawnattr_init', initAttributes(made));
  check('posix_spawnattr_setflags', setFlags(made, SETSIGDEF | SETSIGMASK));
  check('posix_spawnattr_setsigdefault', setDefaults(made, all));
  check('posix_spawnattr_setsigmask', setMask(made, none));
  attributes = made;
  return attributes;
}

function failed(file: string, error: SysError): Program {
  return { exited: Promise.reject(spawnFault(basename(file), error)), hasEnded: () => true, kill: () => {} };
}

/** Children whose end was not collected. Until it is, their pids belong to no other process. */
const children = new Map<number, (exitCode: number) => void>();

function child(pid: number): Program {
  return {
    exited: new Promise((resolve) => children.set(pid, resolve)),
    hasEnded: () => !children.has(pid),
    kill: (signal) => {
      if (children.has(pid)) process.kill(pid, signal);
    },
  };
}

let listens = false;

/** Node collects the ends of its own children only, each by its pid, and so does this. */
function listen(): void {
  if (listens) return;
  process.on('SIGCHLD', collectEnded);
  listens = true;
}

function collectEnded(): void {
  const WNOHANG = 1;
  for (const [pid, settle] of children) {
    const status = [0];
    const found = c!.waitpid(pid, status, WNOHANG);
    if (found === 0) continue;
    children.delete(pid);
    settle(found === pid ? exitCodeOf(status[0]!) : unknownExit);
  }
}

/** Of a child whose end was collected elsewhere. */
const unknownExit = 255;

function exitCodeOf(status: number): number {
  const signal = status & 0x7f;
  return signal === 0 ? (status >> 8) & 0xff : 128 + signal;
}
