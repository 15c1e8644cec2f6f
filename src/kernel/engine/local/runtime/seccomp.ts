/**
 * The system calls a sandbox may make, as the `linux.seccomp` object of the OCI runtime spec.
 *
 * An allow-list: a call that is not named fails with EPERM. It holds what compilers, interpreters, browsers, databases
 * and debuggers need. It leaves out calls that make namespaces or mounts, or reach parts of the kernel without
 * namespaces. A call of a foreign architecture ends the process.
 *
 * No two rules that disagree match the same call, so the meaning does not depend on the order in which a runtime adds
 * them. Runtimes compile this at every start, so every name and argument costs time.
 */
import { Fault } from '../../../../model/fault.ts';

export interface SeccompArg {
  readonly index: number;
  readonly op: 'SCMP_CMP_EQ' | 'SCMP_CMP_GT' | 'SCMP_CMP_MASKED_EQ';
  /** The value to compare with; for MASKED_EQ the mask. */
  readonly value: number;
  /** For MASKED_EQ the value that the masked argument must equal. */
  readonly valueTwo?: number;
}

export interface SeccompRule {
  readonly names: readonly string[];
  readonly action: 'SCMP_ACT_ALLOW' | 'SCMP_ACT_ERRNO';
  readonly errnoRet?: number;
  readonly args?: readonly SeccompArg[];
}

export interface SeccompProfile {
  readonly defaultAction: 'SCMP_ACT_ERRNO';
  readonly defaultErrnoRet: number;
  readonly architectures: readonly string[];
  readonly syscalls: readonly SeccompRule[];
}

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const files = words(`
  close close_range dup dup3 fcntl flock
  read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek
  fstat newfstatat statx statfs fstatfs faccessat faccessat2 readlinkat getdents64
  mkdirat unlinkat renameat renameat2 linkat symlinkat
  truncate ftruncate fallocate fadvise64 readahead cachestat
  fchown fchownat utimensat umask
  chdir fchdir getcwd sync syncfs fsync fdatasync sync_file_range
  copy_file_range sendfile splice tee vmsplice pipe2
  getxattr lgetxattr fgetxattr getxattrat listxattr llistxattr flistxattr listxattrat
  setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat
  inotify_init1 inotify_add_watch inotify_rm_watch memfd_create
  io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents
`);

const waiting = words(`
  epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 ppoll pselect6
  eventfd2 signalfd4 timerfd_create timerfd_settime timerfd_gettime
`);

const memory = words(`
  mmap munmap mremap mprotect madvise msync mincore brk remap_file_pages
  mlock mlock2 munlock mlockall munlockall mseal map_shadow_stack
  pkey_alloc pkey_free pkey_mprotect membarrier
`);

const processes = words(`
  execve execveat exit exit_group wait4 waitid set_tid_address restart_syscall rseq
  getpid getppid gettid getpgid setpgid getsid setsid
  kill tkill tgkill pidfd_open pidfd_send_signal
  rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait
  rt_sigqueueinfo rt_tgsigqueueinfo sigaltstack
  futex futex_waitv futex_wake futex_wait futex_requeue set_robust_list get_robust_list
  getrlimit setrlimit prlimit64 getrusage times prctl
  ptrace process_vm_readv process_vm_writev
  seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self
`);

const identity = words(`
  getuid geteuid getgid getegid getresuid getresgid getgroups capget uname sysinfo
  setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid capset
`);

const scheduling = words(`
  sched_yield sched_getaffinity sched_setaffinity sched_getparam sched_setparam sched_getscheduler
  sched_setscheduler sched_getattr sched_setattr sched_get_priority_max sched_get_priority_min
  sched_rr_get_interval getpriority setpriority ioprio_get ioprio_set getcpu
`);

const time = words(`
  clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday getitimer setitimer
  timer_create timer_settime timer_gettime timer_getoverrun timer_delete getrandom
`);

const communication = words(`
  socketpair bind listen accept accept4 connect shutdown getsockname getpeername getsockopt setsockopt
  sendto sendmsg sendmmsg recvfrom recvmsg recvmmsg
  shmget shmat shmctl shmdt semget semop semtimedop semctl msgget msgsnd msgrcv msgctl
  mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr
`);

/** Calls of x86-64 that are older than the `*at` and `*1` calls. */
const legacy = words(`
  access stat lstat readlink getdents mkdir rmdir rename link unlink symlink
  chown lchown utime utimes futimesat dup2 pipe
  poll select epoll_create epoll_wait eventfd signalfd inotify_init
  fork vfork getpgrp pause alarm time arch_prctl
`);

/**
 * The index of the argument that is the mode of a file. For a call that may make no file, `flags` is the index of the
 * argument that decides it.
 */
const modeArguments: readonly {
  readonly name: string;
  readonly mode: number;
  readonly flags?: number;
  readonly legacy?: true;
}[] = [
  { name: 'openat', mode: 3, flags: 2 },
  { name: 'open', mode: 2, flags: 1, legacy: true },
  { name: 'creat', mode: 1, legacy: true },
  { name: 'fchmod', mode: 1 },
  { name: 'fchmodat', mode: 2 },
  { name: 'fchmodat2', mode: 2 },
  { name: 'chmod', mode: 1, legacy: true },
  { name: 'mknodat', mode: 2 },
  { name: 'mknod', mode: 1, legacy: true },
];
/** Set-user-id and set-group-id. */
const idBits = 0o6000;
const O_CREAT = 0o100;
const O_TMPFILE = 0o20000000;

/** NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET and NEWTIME. */
const namespaceFlags = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x80;

/** PER_LINUX, PER_LINUX32, each with and without UNAME26, and the query. */
const personalities = [0x0, 0x0008, 0x20000, 0x20008, 0xffffffff];

const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

const AF_NETLINK = 16;
/**
 * UNIX, INET, INET6 and NETLINK. The other small numbers are unused families, written as blocks whose size is a power
 * of two.
 */
const families = [1, 2, 10, AF_NETLINK];
const otherFamilies = [
  { first: 0, count: 1 },
  { first: 3, count: 1 },
  { first: 4, count: 4 },
  { first: 8, count: 2 },
  { first: 11, count: 1 },
  { first: 12, count: 4 },
];

const architectures: { readonly [arch in NodeJS.Architecture]?: string } = {
  x64: 'SCMP_ARCH_X86_64',
  arm64: 'SCMP_ARCH_AARCH64',
};

export function seccompProfile(arch: NodeJS.Architecture): SeccompProfile {
  const architecture = architectures[arch];
  if (!architecture) {
    throw new Fault('unsupported', `there is no system call filter for ${arch}`, {
      hint: 'Sandboxes run on x64 and arm64.',
    });
  }
  return {
    defaultAction: 'SCMP_ACT_ERRNO',
    defaultErrnoRet: EPERM,
    architectures: [architecture],
    syscalls: [...always(arch), ...modes(arch), ...absent(), ...clone(), ...personality(), ...socket(), ...ioctl()],
  };
}

function always(arch: NodeJS.Architecture): SeccompRule[] {
  const groups = [files, waiting, memory, processes, identity, scheduling, time, communication];
  return [allow([...groups.flat(), ...(arch === 'x64' ? legacy : [])])];
}

/**
 * Refuses set-user-id files: in a folder that is bound from the host, such a file would run as a user of the host. A
 * call that makes no file may carry any mode.
 */
function modes(arch: NodeJS.Architecture): SeccompRule[] {
  return modeArguments
    .filter(({ legacy: old }) => arch === 'x64' || !old)
    .flatMap(({ name, mode, flags }) => [
      allow([name], masked(mode, idBits, 0)),
      ...(flags === undefined ? [] : [allow([name], masked(flags, O_CREAT | O_TMPFILE, 0))]),
    ]);
}

/**
 * With ENOSYS programs assume an old kernel and fall back from clone3 and openat2, whose arguments no filter can read,
 * to clone and openat.
 */
function absent(): SeccompRule[] {
  return [refuse(['clone3', 'openat2', 'io_uring_setup', 'io_uring_enter', 'io_uring_register'], ENOSYS)];
}

function clone(): SeccompRule[] {
  return [allow(['clone'], masked(0, namespaceFlags, 0))];
}

function personality(): SeccompRule[] {
  return personalities.map((value) => allow(['personality'], equal(0, value)));
}

function socket(): SeccompRule[] {
  return [
    ...families.map((family) => allow(['socket'], equal(0, family))),
    ...otherFamilies.map(({ first, count }) => refuse(['socket'], EAFNOSUPPORT, block(0, first, count))),
    refuse(['socket'], EAFNOSUPPORT, { index: 0, op: 'SCMP_CMP_GT', value: AF_NETLINK }),
  ];
}

/** Allows every request except the two that type into a terminal. */
function ioctl(): SeccompRule[] {
  return neither(TIOCSTI, TIOCLINUX).map(([mask, value]) => allow(['ioctl'], masked(1, mask, value)));
}

/**
 * Masks and values of which at least one matches the low half of any number that is neither `a` nor `b`. The kernel
 * drops the high half of a request, and only a mask can do the same: "not equal" would let 0x100005412 through.
 */
function neither(a: number, b: number): [mask: number, value: number][] {
  const bits = Array.from({ length: 32 }, (_, bit) => (1 << bit) >>> 0);
  const same = bits.filter((bit) => ((a ^ b) & bit) === 0);
  const apart = bits.filter((bit) => ((a ^ b) & bit) !== 0);
  // A number that equals a in some of these bits and b in others changes from one to the other somewhere in the ring.
  const turns = apart.map((bit, n): [number, number] => {
    const next = apart[(n + 1) % apart.length]!;
    return [bit | next, (a & bit) | (b & next)];
  });
  return [...same.map((bit): [number, number] => [bit, (~a & bit) >>> 0]), ...turns];
}

/** Matches `count` numbers from `first`. `count` is a power of two. */
function block(index: number, first: number, count: number): SeccompArg {
  return count === 1 ? equal(index, first) : masked(index, (~(count - 1) & 0xffffffff) >>> 0, first);
}

function equal(index: number, value: number): SeccompArg {
  return { index, op: 'SCMP_CMP_EQ', value };
}

function masked(index: number, mask: number, value: number): SeccompArg {
  return { index, op: 'SCMP_CMP_MASKED_EQ', value: mask, valueTwo: value };
}

function allow(names: readonly string[], ...args: SeccompArg[]): SeccompRule {
  return { names, action: 'SCMP_ACT_ALLOW', ...(args.length > 0 ? { args } : {}) };
}

function refuse(names: readonly string[], errnoRet: number, ...args: SeccompArg[]): SeccompRule {
  return { names, action: 'SCMP_ACT_ERRNO', errnoRet, ...(args.length > 0 ? { args } : {}) };
}
