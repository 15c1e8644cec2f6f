/**
 * System calls that the filter refuses, tried for real. perl can make any call by its number, and nearly every system
 * has it.
 */
import {
  broken,
  type Claim,
  type ClaimFacts,
  type ClaimVerdict,
  heldUnless,
  linesOf,
  someOf,
  unproved,
} from './claim.ts';

type Arch = 'x64' | 'arm64';

/**
 * The numbers of each call, and arguments with which it would succeed, or fail for another reason, if it reached the
 * kernel. Namespaces and keys need no privilege, so only the filter prevents them.
 */
const calls: Readonly<Record<string, { readonly [arch in Arch]: number } & { readonly args: readonly number[] }>> = {
  mount: { x64: 165, arm64: 40, args: [0, 0, 0, 0, 0] },
  unshare: { x64: 272, arm64: 97, args: [0x10000000] },
  setns: { x64: 308, arm64: 268, args: [-1, 0] },
  keyctl: { x64: 250, arm64: 219, args: [0, -3, 0] },
  add_key: { x64: 248, arm64: 217, args: [0, 0, 0, 0, 0] },
  bpf: { x64: 321, arm64: 280, args: [0, 0, 0] },
  perf_event_open: { x64: 298, arm64: 241, args: [0, 0, 0, 0, 0] },
  init_module: { x64: 175, arm64: 105, args: [0, 0, 0] },
  finit_module: { x64: 313, arm64: 273, args: [-1, 0, 0] },
  io_uring_setup: { x64: 425, arm64: 425, args: [1, 0] },
  kexec_load: { x64: 246, arm64: 104, args: [0, 0, 0, 0] },
  open_by_handle_at: { x64: 304, arm64: 265, args: [-1, 0, 0] },
};

const EPERM = 1;
const ENOSYS = 38;
const missingPerl = 'Install perl; without it only mount and unshare are tried.';

export const syscalls: Claim = {
  id: 'syscalls',
  script: `unshare --user true 2>/dev/null && echo 'unshare 0'
mount -t tmpfs none /tmp 2>/dev/null && echo 'mount 0'
command -v perl > /dev/null || { echo 'perl missing'; exit 0; }
perl -e 'for (@ARGV) { my ($name, @call) = split /[=,]/; my ($number, @args) = map { $_ + 0 } @call;
  print "$name ", (syscall($number, @args) == -1 ? $! + 0 : 0), "\\n" }' -- "$@"`,
  args: ({ arch }) =>
    Object.entries(calls).map(([name, call]) => `${name}=${[call[arch as Arch], ...call.args].join()}`),
  judge: (output) => judgeCalls(output),
};

function judgeCalls(output: string): ClaimVerdict {
  const results = linesOf(output).map((line) => line.split(' ') as [name: string, errno: string]);
  const made = results.filter(([name, errno]) => name !== 'perl' && ![EPERM, ENOSYS].includes(Number(errno)));
  if (made.length > 0) return broken(`the kernel answered ${someOf([...new Set(made.map(([name]) => name))])}`);
  if (results.some(([name]) => name === 'perl'))
    return unproved('mount and unshare are refused, others not tried', missingPerl);
  const untried = Object.keys(calls).filter((name) => !results.some(([tried]) => tried === name));
  return heldUnless(
    [untried.length > 0 && `not tried: ${someOf(untried)}`],
    `${Object.keys(calls).join(', ')} are refused`,
  );
}

/** Stdin is a pipe: without the filter the kernel would answer that it is no terminal. */
export const terminal: Claim = {
  id: 'terminal',
  script: `command -v perl > /dev/null || { echo missing; exit 0; }
perl -e 'for my $request (0x5412, 0x541c) { my $byte = "x"; ioctl(STDIN, $request, $byte); print $! + 0, "\\n" }'`,
  judge: (output: string, _facts: ClaimFacts) => {
    const results = linesOf(output);
    if (results[0] === 'missing') return unproved('not tried', missingPerl);
    const refused = results.length === 2 && results.every((errno) => Number(errno) === EPERM);
    return heldUnless([!refused && 'TIOCSTI or TIOCLINUX reaches the kernel'], 'TIOCSTI and TIOCLINUX are refused');
  },
};
