import { describe, expect, it } from 'vitest';
import { isFault } from '../../../../model/fault.ts';
import type { SeccompArg, SeccompRule } from './seccomp.ts';
import { seccompProfile } from './seccomp.ts';

const denied = `
  mount umount2 fsopen fsconfig fsmount fspick move_mount open_tree open_tree_attr mount_setattr statmount listmount
  pivot_root chroot unshare setns sethostname setdomainname
  bpf perf_event_open fanotify_init fanotify_mark userfaultfd lookup_dcookie kcmp pidfd_getfd memfd_secret
  keyctl add_key request_key kexec_load kexec_file_load
  init_module finit_module delete_module create_module query_module get_kernel_syms
  reboot swapon swapoff syslog acct quotactl quotactl_fd nfsservctl vhangup uselib ustat sysfs _sysctl
  open_by_handle_at name_to_handle_at vm86 vm86old iopl ioperm modify_ldt
  settimeofday clock_settime clock_adjtime adjtimex stime
  mbind set_mempolicy get_mempolicy set_mempolicy_home_node move_pages migrate_pages
`
  .trim()
  .split(/\s+/);

const namespaces = {
  time: 0x00000080,
  mount: 0x00020000,
  cgroup: 0x02000000,
  uts: 0x04000000,
  ipc: 0x08000000,
  user: 0x10000000,
  pid: 0x20000000,
  net: 0x40000000,
};

const unmatched = 'SCMP_ACT_ERRNO 1';

/** The filter's answer to a call, as libseccomp compiles it: 64-bit comparisons, no order among rules. */
function answer(name: string, ...args: bigint[]): string {
  const rules = seccompProfile('x64').syscalls.filter((rule) => rule.names.includes(name) && matches(rule, args));
  const answers = new Set(rules.map((rule) => [rule.action, ...(rule.errnoRet ? [rule.errnoRet] : [])].join(' ')));
  expect(answers.size, `rules that disagree on ${name}(${args.join(', ')})`).toBeLessThanOrEqual(1);
  return [...answers][0] ?? unmatched;
}

function matches(rule: SeccompRule, args: readonly bigint[]): boolean {
  return (rule.args ?? []).every((arg) => holds(arg, args[arg.index] ?? 0n));
}

function holds(arg: SeccompArg, actual: bigint): boolean {
  if (arg.op === 'SCMP_CMP_EQ') return actual === BigInt(arg.value);
  if (arg.op === 'SCMP_CMP_GT') return actual > BigInt(arg.value);
  return (actual & BigInt(arg.value)) === BigInt(arg.valueTwo ?? 0);
}

describe.each(['x64', 'arm64'] as const)('seccompProfile(%s)', (arch) => {
  const profile = seccompProfile(arch);

  it('refuses calls that it does not name with EPERM', () => {
    expect(profile).toMatchObject({ defaultAction: 'SCMP_ACT_ERRNO', defaultErrnoRet: 1 });
  });

  it('knows the native architecture only', () => {
    expect(profile.architectures).toEqual([arch === 'x64' ? 'SCMP_ARCH_X86_64' : 'SCMP_ARCH_AARCH64']);
  });

  it('names no forbidden call', () => {
    const named = new Set(profile.syscalls.flatMap((rule) => rule.names));
    expect(denied.filter((name) => named.has(name))).toEqual([]);
  });

  it('names each call either once without an argument rule, or only with argument rules', () => {
    const plain = profile.syscalls.filter((rule) => !rule.args).flatMap((rule) => rule.names);
    const looked = new Set(profile.syscalls.filter((rule) => rule.args).flatMap((rule) => rule.names));
    expect(new Set(plain).size).toBe(plain.length);
    expect(plain.filter((name) => looked.has(name))).toEqual([]);
  });

  it('has at most one comparison per rule, and numbers that JSON keeps', () => {
    for (const { args = [] } of profile.syscalls) {
      expect(args.length).toBeLessThanOrEqual(1);
      for (const { value, valueTwo = 0 } of args) {
        for (const number of [value, valueTwo]) expect(Number.isSafeInteger(number) && number >= 0).toBe(true);
      }
    }
  });
});

describe('the filter', () => {
  it.each(Object.entries(namespaces))('lets clone make no %s namespace', (_, flag) => {
    expect(answer('clone', BigInt(flag))).toBe(unmatched);
    expect(answer('clone', BigInt(flag) | 0xffffffff_00000011n)).toBe(unmatched);
  });

  it('lets clone make processes and threads', () => {
    expect(answer('clone', 0x11n)).toBe('SCMP_ACT_ALLOW');
    expect(answer('clone', 0x3d0f00n)).toBe('SCMP_ACT_ALLOW');
  });

  it.each(['clone3', 'io_uring_setup', 'io_uring_enter', 'io_uring_register'])('answers ENOSYS for %s', (name) => {
    expect(answer(name)).toBe('SCMP_ACT_ERRNO 38');
  });

  it('allows sockets of four families', () => {
    const open = Array.from({ length: 64 }, (_, family) => family).filter(
      (family) => answer('socket', BigInt(family)) === 'SCMP_ACT_ALLOW',
    );
    expect(open).toEqual([1, 2, 10, 16]);
  });

  it('answers every other family as unsupported', () => {
    for (const family of [0n, 3n, 5n, 9n, 11n, 15n, 17n, 38n, 40n, 0x1_00000002n, 0x1_00000011n, 0xffffffffn]) {
      expect(answer('socket', family)).toBe('SCMP_ACT_ERRNO 97');
    }
  });

  it('refuses every ioctl that types into a terminal, whatever the high half of its number is', () => {
    for (const high of [0n, 1n << 32n, 0xffffffffn << 32n]) {
      expect(answer('ioctl', 0n, high | 0x5412n)).toBe(unmatched);
      expect(answer('ioctl', 0n, high | 0x541cn)).toBe(unmatched);
    }
  });

  it('allows every other ioctl', () => {
    const near = Array.from({ length: 256 }, (_, low) => BigInt(0x5400 + low));
    const far = Array.from({ length: 32 }, (_, bit) => [0x5412n ^ (1n << BigInt(bit)), 0x541cn ^ (1n << BigInt(bit))]);
    const others = [...near, ...far.flat()].filter((request) => request !== 0x5412n && request !== 0x541cn);
    for (const request of others) expect(answer('ioctl', 0n, request), `${request}`).toBe('SCMP_ACT_ALLOW');
  });

  it('allows only harmless personalities', () => {
    for (const value of [0n, 8n, 0x20000n, 0x20008n, 0xffffffffn]) {
      expect(answer('personality', value)).toBe('SCMP_ACT_ALLOW');
    }
    expect(answer('personality', 0x0400000n)).toBe(unmatched);
  });

  it.each(['ptrace', 'process_vm_readv', 'seccomp', 'landlock_restrict_self', 'execve', 'openat'])(
    'allows %s',
    (name) => {
      expect(answer(name)).toBe('SCMP_ACT_ALLOW');
    },
  );
});

it('seccompProfile refuses other architectures as unsupported', () => {
  expect(() => seccompProfile('riscv64')).toThrowError(expect.toSatisfy((error) => isFault(error, 'unsupported')));
});
