import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../../../model/limits.ts';
import type { Claim, ClaimFacts } from './claim.ts';
import { devices, files, procMasked, procReadonly, tmp, usrReadonly } from './claim-files.ts';
import { cpu, memory, pids, secondsOfChildren } from './claim-limit.ts';
import * as inside from './claim-process.ts';
import { syscalls, terminal } from './claim-syscall.ts';

const facts: ClaimFacts = {
  namespaces: {
    pid: 'pid:[1]',
    net: 'net:[2]',
    ipc: 'ipc:[3]',
    mnt: 'mnt:[4]',
    user: 'user:[5]',
    cgroup: 'cgroup:[6]',
  },
  environment: ['PATH', 'HOME'],
  limits: { ...defaultLimits, cpus: 0.5, pids: 96, memoryBytes: 128 * 2 ** 20 },
  enforced: ['cpus', 'memoryBytes', 'pids'],
  home: '/root/.carrel',
  devices: { '/tmp': 7, '/dev/shm': 8 },
  uidMap: '0 0 4294967295\n',
  passwd: 'root:x:0:0:root:/root:/bin/bash\nada:x:1000:1000::/home/ada:/bin/bash\n',
  arch: 'x64',
  cpuQuota: 0.5,
};

function judged(claim: Claim, output: string, change: Partial<ClaimFacts> = {}): string {
  const { level, detail } = claim.judge(output, { ...facts, ...change });
  return `${level}: ${detail}`;
}

/** Each claim with the output of a sandbox where it holds, and with outputs where it does not. */
function cases(claim: Claim, good: string, bad: readonly [output: string, detail: string][]): void {
  describe(claim.id, () => {
    it('holds with the expected output', () => expect(judged(claim, good)).toMatch(/^ok: /));
    it.each([['', ''] as const, ...bad])('does not hold when the output is %j', (output, detail) => {
      expect(judged(claim, output)).toMatch(/^failure: /);
      expect(judged(claim, output)).toContain(detail);
    });
    it('has a hint', () => expect(claim.judge('', facts).hint).not.toBeNull());
  });
}

const tree = '/usr\n/etc\n/etc/passwd\n/home\n/home/agent\n/run\n/run/carrel\n/var\n/var/tmp\n/.data\n';
cases(files, `${tree}--\n--\nmnt:[9]\n`, [
  [`${tree}/root\n--\n--\nmnt:[9]\n`, 'of the host: /root'],
  [`${tree}/home/ada\n--\n--\nmnt:[9]\n`, '/home/ada'],
  [`${tree}/run/docker.sock\n--\n--\nmnt:[9]\n`, '/run/docker.sock'],
  [`${tree}/etc/shadow\n--\n--\nmnt:[9]\n`, '/etc/shadow'],
  [`${tree}--\n/root/.carrel\n--\nmnt:[9]\n`, '/root/.carrel exists inside'],
  [`${tree}--\n--\nmnt:[4]\n`, "the mnt namespace is the host's"],
]);

const roots = '1 0 0:1 /root / ro,nosuid - tmpfs carrel rw\n2 1 254:0 /usr /usr ro,nosuid - ext4 /dev/vda rw\n';
cases(usrReadonly, `path /\npath /usr\n--\n${roots}`, [
  [`written /usr\npath /usr\n--\n${roots}`, 'written: /usr'],
  [`path /usr\n--\n${roots.replace('/usr ro', '/usr rw')}`, 'not mounted read-only: /usr'],
  ['path /usr\n--\n', 'not mounted read-only: /usr'],
]);

const kernel =
  '5 1 0:4 / /proc rw - proc proc rw\n6 5 0:4 /sys /proc/sys ro - proc proc rw\n7 1 0:5 / /sys ro - sysfs s rw\n';
cases(procReadonly, `/proc/sys\n/sys\n--\n--\n${kernel}`, [
  [`/proc/sys\n/proc/irq\n--\n--\n${kernel}`, 'not mounted read-only: /proc/irq'],
  [`/sys\n--\n--\n${kernel}8 1 0:6 / /sys rw - sysfs s rw\n`, 'not mounted read-only: /sys'],
  [`/sys\n--\n/proc/sys/kernel/x\n--\n${kernel}`, 'can be written: /proc/sys/kernel/x'],
]);

cases(procMasked, '--\n', [['/proc/keys\n--\n', 'shown: /proc/keys']]);

cases(devices, '/dev/null\n/dev/pts/ptmx\n--\n--\n', [
  ['/dev/null\n/dev/vda\n--\n--\n', 'there are /dev/vda'],
  ['/dev/null\n--\nc 1 1\n--\n', 'a device could be made: c 1 1'],
]);

cases(tmp, '/tmp 50 tmpfs 67108864 bounded\n/dev/shm 51 tmpfs 4096 bounded\n', [
  ['/tmp 50 ext2/ext3 67108864 bounded\n/dev/shm 51 tmpfs 4096 bounded\n', '/tmp is not in memory'],
  ['/tmp 7 tmpfs 67108864 bounded\n/dev/shm 51 tmpfs 4096 bounded\n', "/tmp is the host's"],
  ['/tmp 50 tmpfs 67108864 bounded\n/dev/shm 51 tmpfs 4096 filled\n', '/dev/shm has no bound'],
  ['/tmp 50 tmpfs 67108864 bounded\n', '/dev/shm is not in memory'],
]);

const zero = '0000000000000000';
const status =
  ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].map((set) => `${set}:\t${zero}\n`).join('') +
  'NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n';
cases(inside.capabilities, status + status, [
  [status, 'not empty'],
  [status + status.replace(`CapBnd:\t${zero}`, 'CapBnd:\t00000000a80425fb'), 'not empty: CapBnd'],
  [status.replace(`CapAmb:\t${zero}`, 'CapAmb:\t0000000000000400') + status, 'not empty: CapAmb'],
]);
cases(inside.noNewPrivileges, status + status, [[status + status.replace('Privs:\t1', 'Privs:\t0'), 'not set']]);
cases(inside.seccomp, status + status, [
  [status + status.replace('Seccomp:\t2', 'Seccomp:\t0'), 'no filter'],
  [status.replace('Seccomp:\t2', 'Seccomp:\t1') + status, 'no filter'],
]);

const init = '/opt/carrel/init -- sleep 60 \n';
cases(inside.processes, `/proc/1\n/proc/7\n--\n${init}--\npid:[9]\n`, [
  [`/proc/1\n--\n/sbin/init splash \n--\npid:[9]\n`, 'not its own init'],
  [`/proc/1\n--\n${init}--\npid:[1]\n`, "the pid namespace is the host's"],
]);

const map = '0 1879048192 65536\n';
cases(inside.ids, `1000\n1000\n1000\n--\n${map}--\n${map}--\nuser:[9]\n`, [
  [`0\n0\n0\n--\n${map}--\n${map}--\nuser:[9]\n`, 'it runs as 0:0'],
  [`1000\n1000\n1000 27\n--\n${map}--\n${map}--\nuser:[9]\n`, 'groups 1000 27'],
  ['1000\n1000\n1000\n--\n0 0 65536\n--\n0 0 65536\n--\nuser:[9]\n', 'agent is ada outside'],
  [`1000\n1000\n1000\n--\n${map}--\n0 0 65536\n--\nuser:[9]\n`, 'mapped differently'],
  [`1000\n1000\n1000\n--\n0 5 10\n--\n${map}--\nuser:[9]\n`, 'no id outside'],
  [`1000\n1000\n1000\n--\n${map}--\n${map}--\nuser:[5]\n`, "the user namespace is the host's"],
]);

it('an id outside is resolved through the namespace of an ordinary user', () => {
  const output = '1000\n1000\n1000\n--\n0 1 4096\n--\n0 1 4096\n--\nuser:[9]\n';
  expect(judged(inside.ids, output, { uidMap: '0 54321 1\n1 400000 65536\n' })).toContain('is 401000 outside');
});

cases(inside.inheritance, 'PATH=/bin\nHOME=/h\nPWD=/\n--\n0\n1\n2\n0\n1\n2\n', [
  ['PATH=/bin\nAWS_SECRET=x\n--\n0\n1\n2\n0\n1\n2\n', 'variables came in: AWS_SECRET'],
  ['PATH=/bin\n--\n0\n1\n2\n0\n1\n2\n17\n', 'descriptors came in: 17'],
  ['PATH=/bin\n--\n0\n1\n2\n', 'it cannot be determined'],
]);

it('the value of a leaked variable is not shown', () => {
  expect(judged(inside.inheritance, 'TOKEN=hunter2\n--\n0\n1\n2\n0\n1\n2\n')).not.toContain('hunter2');
});

cases(inside.network, 'lo\n--\n--\n--\nlo\n--\nnet:[9]\n', [
  ['lo\neth0\n--\n--\n--\nlo\n--\nnet:[9]\n', 'interfaces besides lo: eth0'],
  ['lo\n--\n--\n--\neth0\nlo\n--\nnet:[9]\n', 'interfaces besides lo: eth0'],
  ['lo\n--\neth0 00000000 0100A8C0 0003\n--\n--\nlo\n--\nnet:[9]\n', '1 routes'],
  ['lo\n--\n--\n0000: 00000002 0 0 2 1 7 @/tmp/.X11-unix/X0\n--\nlo\n--\nnet:[9]\n', '1 abstract sockets'],
  ['lo\n--\n--\n--\nlo\n--\nnet:[2]\n', "the net namespace is the host's"],
]);

cases(inside.ipc, '--\n.carrel-doctor\n--\nipc:[9]\n', [
  ['0 32768 600 1\n--\n--\nipc:[9]\n', '1 objects are visible'],
  ['--\nqueue\n--\nipc:[9]\n', '1 objects are visible'],
  ['--\n--\nipc:[3]\n', "the ipc namespace is the host's"],
]);

describe('the claim cgroup', () => {
  it.each([
    ['8:pids:/\n0::/\n--\n--\ncgroup:[9]\n', 'ok: '],
    ['0::/carrel-x/1\n--\n--\ncgroup:[9]\n', 'failure: its own appears as /carrel-x/1'],
    ['0::/\n--\n/sys/fs/cgroup/pids\n--\ncgroup:[9]\n', 'failure: mounted: /sys/fs/cgroup/pids'],
    ['0::/\n--\n--\ncgroup:[6]\n', "failure: the cgroup namespace is the host's"],
    ['--\n--\ncgroup:[9]\n', 'warning: '],
  ])('with the output %j is judged as %s', (output, verdict) => {
    expect(judged(inside.cgroup, output)).toContain(verdict);
  });
});

describe('the claim syscalls', () => {
  const args = syscalls.args!(facts);
  const refused = args.map((arg) => `${arg.split('=')[0]} 1\n`).join('');

  it('tries calls by their numbers on the architecture', () => {
    expect(args).toContain('unshare=272,268435456');
    expect(syscalls.args!({ ...facts, arch: 'arm64' })).toContain('unshare=97,268435456');
  });

  it.each([
    [refused, 'ok: '],
    [refused.replace('io_uring_setup 1', 'io_uring_setup 38'), 'ok: '],
    [refused.replace('unshare 1', 'unshare 0'), 'failure: the kernel answered unshare'],
    [refused.replace('bpf 1', 'bpf 22'), 'failure: the kernel answered bpf'],
    [`mount 0\n${refused}`, 'failure: the kernel answered mount'],
    [refused.replace('setns 1\n', ''), 'failure: not tried: setns'],
    ['perl missing\n', 'warning: '],
    ['unshare 0\nperl missing\n', 'failure: '],
    ['', 'failure: not tried'],
  ])('with the output %j is judged as %s', (output, verdict) => {
    expect(judged(syscalls, output)).toContain(verdict);
  });
});

describe('the claim terminal', () => {
  it.each([
    ['1\n1\n', 'ok'],
    ['25\n1\n', 'failure'],
    ['1\n', 'failure'],
    ['', 'failure'],
    ['missing\n', 'warning'],
  ])('with the output %j is judged as %s', (output, level) => {
    expect(judged(terminal, output)).toMatch(new RegExp(`^${level}: `));
  });
});

describe('a claim about a limit', () => {
  it.each([
    [memory, 'Killed\n137\n', 'ok'],
    [memory, '0\n', 'failure'],
    [memory, '', 'failure'],
    [cpu, '7.10 7.50\n0m0.001s 0m0.002s\n0m0.210s 0m0.010s\n', 'ok'],
    [cpu, '7.10 7.50\n0m0.001s 0m0.002s\n0m0.780s 0m0.010s\n', 'failure'],
    [cpu, '7.10 9.10\n0m0.001s 0m0.002s\n0m0.780s 0m0.010s\n', 'ok'],
    [cpu, '0m0.001s 0m0.002s\n0m0.210s 0m0.010s\n', 'failure'],
    [cpu, '', 'failure'],
    [pids, 'sh: 1: Cannot fork\n', 'ok'],
    [pids, 'sh: fork: retry: Resource temporarily unavailable\n', 'ok'],
    [pids, 'all\n', 'failure'],
  ] as const)('(%o) with the output %j is judged as %s', (claim, output, level) => {
    expect(judged(claim, output)).toMatch(new RegExp(`^${level}: `));
  });

  it.each([null, 5])('a quota of %s does not count as the limit', (cpuQuota) => {
    expect(judged(cpu, '1.0 1.4\n0m0s 0m0s\n0m0.100s 0m0s\n', { cpuQuota })).toMatch(/^failure: .*the kernel has/);
  });

  it('times in minutes and seconds are parsed', () => {
    expect(secondsOfChildren('0m0s 0m0s\n1m2.50s 0m0.50s\n')).toBe(63);
    expect(secondsOfChildren('nonsense\n')).toBeNull();
  });
});
