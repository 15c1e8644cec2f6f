/**
 * Starts children without a copy of this process. Node forks: the kernel copies the page tables of the daemon, and
 * afterwards every page that the daemon writes to, which takes longer than the program needs to load. With posix_spawn
 * the child shares the memory until it executes the program. Callers collect the end of a child themselves, because
 * Node does not know the child.
 */
import { constants } from 'node:os';
import { errno, libc, SysError } from './libc.ts';

export interface SpawnOptions {
  /** The descriptors that the child gets as 0, 1, 2 and so on; null: /dev/null. They stay open in this process. */
  readonly stdio: readonly (number | null)[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/**
 * False: this process has groups, which posix_spawn cannot drop; a descriptor has the number of a target, which would
 * be overwritten before it is copied; or the C library is too old.
 */
export function canSpawn({ stdio }: Pick<SpawnOptions, 'stdio'>): boolean {
  return c !== null && !hasGroups() && stdio.every((fd) => fd === null || fd >= stdio.length);
}

/** `getgroups` of Node lists the effective group, too. */
function hasGroups(): boolean {
  return process.getgroups?.().some((group) => group !== process.getegid?.()) ?? true;
}

const c = calls();

/** Null: this C library has no such calls. */
function calls() {
  try {
    return {
      spawn: libc(
        'int posix_spawnp(_Out_ int *pid, const char *file, const void *actions, const void *attributes, const char **argv, const char **env)',
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
      waitid: libc('int waitid(int kind, int pid, void *info, int flags)'),
    };
  } catch {
    return null;
  }
}

type Calls = NonNullable<typeof c>;

/** More bytes than any C library needs for these structures: 80, 336 and 128 in glibc and musl. */
const structBytes = 1024;

/**
 * Starts a child and returns its pid. A file without a slash is looked for in PATH. The child has no other descriptors,
 * and the default handlers of signals.
 */
export function spawnChild(file: string, args: readonly string[], { stdio, env, cwd }: SpawnOptions): number {
  const actions = Buffer.alloc(structBytes);
  const given = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : `${name}=${value}`));
  const pid = [0];
  check('posix_spawn_file_actions_init', c!.initActions(actions));
  try {
    for (const [target, fd] of stdio.entries()) direct(c!, actions, target, fd);
    check('posix_spawn_file_actions_addchdir_np', c!.addChdir(actions, cwd));
    check('spawn', c!.spawn(pid, file, actions, usualSignals(c!), [file, ...args, null], [...given, null]));
    return pid[0]!;
  } finally {
    c!.destroyActions(actions);
  }
}

function direct({ addDup2, addOpen }: Calls, actions: Buffer, target: number, fd: number | null): void {
  const O_RDWR = 2;
  if (fd === null) check('posix_spawn_file_actions_addopen', addOpen(actions, target, '/dev/null', O_RDWR, 0));
  else check('posix_spawn_file_actions_adddup2', addDup2(actions, fd, target));
}

/** These calls return an error number and do not set errno. */
function check(call: string, failure: number): void {
  if (failure !== 0) throw new SysError(call, failure);
}

let attributes: Buffer | null = null;

/** Attributes that reset the signal handlers: Node ignores some signals, and the child would inherit that. */
function usualSignals({ initAttributes, setFlags, setDefaults, setMask }: Calls): Buffer {
  if (attributes !== null) return attributes;
  const [SETSIGDEF, SETSIGMASK] = [4, 8];
  const [made, none] = [Buffer.alloc(structBytes), Buffer.alloc(structBytes)];
  // Not by sigfillset: it leaves out the signals of the C library itself, and posix_spawn would let the child ignore
  // them.
  const all = Buffer.alloc(structBytes, 0xff);
  check('posix_spawnattr_init', initAttributes(made));
  check('posix_spawnattr_setflags', setFlags(made, SETSIGDEF | SETSIGMASK));
  check('posix_spawnattr_setsigdefault', setDefaults(made, all));
  check('posix_spawnattr_setsigmask', setMask(made, none));
  attributes = made;
  return attributes;
}

/** The exit code of a child, or 128 plus the number of the signal that ended it. Null: the child has not ended. */
export function collectEnd(pid: number): number | null {
  const WNOHANG = 1;
  return collect(pid, WNOHANG);
}

/** Like `collectEnd`, for a child that has ended or is about to: it waits in this thread. */
export function awaitEndSync(pid: number): number {
  return collect(pid, 0)!;
}

function collect(pid: number, flags: number): number | null {
  const status = [0];
  for (;;) {
    const found = c!.waitpid(pid, status, flags);
    if (found === 0) return null;
    if (found === pid) return exitCodeOf(status[0]!);
    if (errno() !== constants.errno.EINTR) return unknownExit;
  }
}

/**
 * Like `awaitEndNow`, but a thread of libuv waits, so it is called when the end is near. That thread does not collect
 * the end: until this one does, the pid belongs to no other process.
 */
export function awaitEnd(pid: number): Promise<number> {
  const [P_PID, WEXITED, WNOWAIT] = [1, 4, 0x0100_0000];
  return new Promise((resolve) =>
    c!.waitid.async(P_PID, pid, unread, WEXITED | WNOWAIT, () => resolve(awaitEndSync(pid))),
  );
}

/** The result of waitid is not needed. */
const unread = Buffer.alloc(structBytes);

/** The exit code of a child whose end was collected elsewhere. */
const unknownExit = 255;

function exitCodeOf(status: number): number {
  const signal = status & 0x7f;
  return signal === 0 ? (status >> 8) & 0xff : 128 + signal;
}
