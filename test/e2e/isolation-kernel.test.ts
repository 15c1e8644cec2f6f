// @needs root
// @takes 30 s
/** What a sandbox can ask of the kernel: system calls, privileges, other processes. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  attacker,
  attackHost,
  entrances,
  everyWay,
  isOnEngine,
  type Testbed,
  type Way,
  waysWithPodman,
} from '../fixtures/attacks/testbed.ts';
import { isRunning } from '../harness/installation.ts';

type Outcomes = Readonly<Record<string, string>>;

interface Processes {
  readonly commands: readonly string[];
  readonly hosts: readonly {
    readonly listed: boolean;
    readonly kill: string;
    readonly pidfd: string;
    readonly attach: string;
    readonly seize: string;
    readonly memory: string;
    readonly priority: string;
  }[];
  readonly outside: readonly unknown[];
  readonly first: string;
  readonly namespaces: Outcomes;
}

interface Privileges {
  readonly Uid: string;
  readonly Gid: string;
  readonly Groups: string;
  readonly CapInh: string;
  readonly CapPrm: string;
  readonly CapEff: string;
  readonly CapBnd: string;
  readonly CapAmb: string;
  readonly NoNewPrivs: string;
  readonly Seccomp: string;
  readonly map: readonly (readonly string[])[];
  readonly denied: Outcomes;
}

const namespaceKinds = ['time', 'mount', 'cgroup', 'uts', 'ipc', 'user', 'pid', 'network'];

/** How each call ends inside: it is refused, the kernel seems not to have it, or the caller is killed. */
const themes: Readonly<Record<string, { readonly calls: readonly string[]; readonly answer: string }>> = {
  mounts: {
    calls: [
      ...['mount', 'umount2', 'pivot_root', 'chroot', 'open_tree', 'move_mount', 'fsopen', 'mount_setattr'],
      ...['name_to_handle_at', 'open_by_handle_at', 'fanotify_init', 'swapon', 'swapoff', 'acct'],
    ],
    answer: 'EPERM',
  },
  'new namespaces': {
    calls: [
      ...namespaceKinds.map((kind) => `unshare ${kind}`),
      ...namespaceKinds.filter((kind) => kind !== 'time').map((kind) => `clone ${kind}`),
      'setns',
    ],
    answer: 'EPERM',
  },
  'new namespaces by clone3': { calls: namespaceKinds.map((kind) => `clone3 ${kind}`), answer: 'ENOSYS' },
  'another kernel': {
    calls: ['init_module', 'finit_module', 'delete_module', 'kexec_load', 'kexec_file_load', 'reboot'],
    answer: 'EPERM',
  },
  'parts of the kernel that know no namespace': {
    calls: ['keyctl', 'add_key', 'request_key', 'bpf', 'perf_event_open', 'userfaultfd', 'pidfd_getfd', 'syslog'],
    answer: 'EPERM',
  },
  io_uring: { calls: ['io_uring_setup'], answer: 'ENOSYS' },
  'clock and names of the machine': {
    calls: ['sethostname', 'setdomainname', 'settimeofday', 'clock_settime', 'adjtimex'],
    answer: 'EPERM',
  },
  'other ids and devices': { calls: ['setuid', 'mknod character', 'mknod block'], answer: 'EPERM' },
  'typing into terminals': { calls: ['TIOCSTI', 'TIOCSTI with a high half', 'TIOCLINUX'], answer: 'EPERM' },
  ...(process.arch === 'x64' ? { 'calls of other architectures': { calls: ['x32', '32 bit'], answer: 'SIGSYS' } } : {}),
};

/** Calls that every account may make on a host with rootless sandboxes, so that only the filter can refuse them. */
const openToAll = [
  ...['mount', 'umount2', 'open_tree', 'setns', 'name_to_handle_at', 'pidfd_getfd', 'clock_settime', 'adjtimex'],
  ...['unshare user', 'clone user', 'clone3 user'],
];

everyWay(
  'kernel',
  (testbed, way) => {
    systemCalls(testbed);
    privileges(testbed, way);
    setUserId(testbed, way);
    hostProcesses(testbed, way);
  },
  waysWithPodman,
);

function systemCalls(testbed: () => Testbed): void {
  describe.each(entrances)('system calls, by its %s', (entrance) => {
    let answers: Outcomes;
    beforeAll(async () => {
      answers = await testbed().attack<Outcomes>('calls', {}, entrance);
    });

    it.each(Object.entries(themes))('for %s are refused', (_, { calls, answer }) => {
      expect(pick(answers, calls)).toEqual(Object.fromEntries(calls.map((call) => [call, answer])));
    });

    it('were all tried', () => {
      expect(Object.keys(answers).sort()).toEqual(
        Object.values(themes)
          .flatMap(({ calls }) => calls)
          .sort(),
      );
    });
  });

  it('the host itself allows the calls that only the filter refuses', () => {
    const refused = Object.entries(attackHost<Outcomes>('calls')).filter(([, answer]) => /EPERM|ENOSYS/.test(answer));
    expect(refused.map(([call]) => call).filter((call) => openToAll.includes(call))).toEqual([]);
  });
}

function privileges(testbed: () => Testbed, way: Way): void {
  describe.each(entrances)('a process of the sandbox, from its %s,', (entrance) => {
    let found: Privileges;
    beforeAll(async () => {
      found = await testbed().attack<Privileges>('privileges', {}, entrance);
    });

    it('has agent as its only account', () => {
      // In a container of a Docker Engine, ids outside equal those inside.
      const id = isOnEngine(way) ? rootIdOf('root') + 1000 : 1000;
      expect([found.Uid, found.Gid]).toEqual(Array(2).fill(Array(4).fill(id).join('\t')));
      expect(['', String(id)]).toContain(found.Groups);
    });

    it('is mapped to ids without an account', () => {
      const [inside, outside, size] = found.map[0]!.map(Number);
      expect(found.map).toHaveLength(1);
      expect(inside).toBe(0);
      if (way === 'root') expect(outside).toBeGreaterThanOrEqual(0x7000_0000);
      else if (way === 'rootless') expect([outside, size]).toEqual([1, 4096]);
    });

    it('has no capability and cannot gain one', () => {
      const { CapInh, CapPrm, CapEff, CapBnd, CapAmb, NoNewPrivs } = found;
      expect([CapInh, CapPrm, CapEff, CapBnd, CapAmb]).toEqual(Array(5).fill('0000000000000000'));
      expect(NoNewPrivs).toBe('1');
    });

    it('is under a filter of system calls', () => {
      expect(found.Seccomp).toBe('2');
    });

    it('cannot change its account or gain privileges', () => {
      expect(found.denied).toMatchObject({ setuid: 'EPERM', setgid: 'EPERM', setresuid: 'EPERM', setgroups: 'EPERM' });
      expect(found.denied).toMatchObject({
        chown: 'EPERM',
        core: 'EPERM',
        nice: expect.stringMatching(/EPERM|EACCES/),
      });
      expect(found.denied.adjust).toBe('EACCES');
    });
  });
}

function setUserId(testbed: () => Testbed, way: Way): void {
  describe('a set-user-id program', () => {
    let folder: string;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'carrel-setuid-'));
      chmodSync(folder, 0o755);
      execFileSync('gcc', ['-static', '-o', join(folder, 'whoami'), 'test/fixtures/attacks/whoami.c']);
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    it('gains no privileges if root inside owns it', async () => {
      const rootfs = join(folder, 'rootfs');
      const program = join(rootfs, 'whoami');
      mkdirSync(join(rootfs, 'bin'), { recursive: true });
      // An image without a shell is refused.
      copyFileSync('/bin/busybox', join(rootfs, 'bin/sh'));
      copyFileSync(join(folder, 'whoami'), program);
      chownSync(program, rootIdOf(way), rootIdOf(way));
      chmodSync(program, 0o6755);
      expect(asOrdinaryAccount(program)).toMatch(new RegExp(`^${rootIdOf(way)} ${rootIdOf(way)} `));

      const root = isOnEngine(way) ? ['--image', await testbed().import(rootfs)] : ['--rootfs', rootfs];
      const { stdout, stderr } = await testbed().carrel.run(['run', '--rm', ...root, '--', '/whoami']);
      expect(stderr).toBe('');
      const id = isOnEngine(way) ? rootIdOf('root') + 1000 : 1000;
      expect(stdout).toBe(`${id} ${id} 0 0\n`);
    });

    it('gains no privileges if it belongs to the host', async () => {
      const programs = readdirSync('/usr/bin').filter((name) => isSetUserId(join('/usr/bin', name)));
      const found = await testbed().carrel.ok('exec', attacker, '--', 'find', '/usr/bin', '-perm', '-4000');
      expect(found.trim().split('\n').length).toBe(programs.length);
      const { exitCode } = await testbed().carrel.run(['exec', attacker, '--', 'mount', '-t', 'tmpfs', 'none', '/tmp']);
      expect(exitCode).not.toBe(0);
    });
  });
}

function hostProcesses(testbed: () => Testbed, way: Way): void {
  const kinds = ['user', 'pid', 'mnt', 'ipc', 'uts', 'net', 'cgroup'];
  let canary: ChildProcess;
  beforeAll(() => {
    canary = spawn('sleep', ['3600'], { stdio: 'ignore' });
  });
  afterAll(() => void canary.kill('SIGKILL'));

  describe.each(entrances)('processes of the host, seen by its %s', (entrance) => {
    let found: Processes;
    let pids: number[];
    beforeAll(async () => {
      pids = [canary.pid!, testbed().carrel.daemonPid, process.pid];
      found = await testbed().attack<Processes>('processes', { pids, namespaces: kinds }, entrance);
    });

    it('are not listed', () => {
      expect([...found.commands].sort()).toEqual([
        isOnEngine(way) ? engineInits[way] : '/opt/carrel/init',
        'python3',
        ...(entrance === 'command' ? [] : ['sleep']),
      ]);
    });

    it('can be neither signalled, traced, read nor slowed down', () => {
      const nothing = {
        kill: 'ESRCH',
        pidfd: 'ESRCH',
        attach: 'ESRCH',
        seize: 'ESRCH',
        memory: 'ESRCH',
        priority: 'ESRCH',
      };
      expect(found.hosts).toEqual(pids.map(() => ({ listed: false, ...nothing })));
      expect(pids.every(isRunning)).toBe(true);
    });

    it('cannot be reached through links in its /proc', () => {
      expect(found.outside).toEqual([]);
      expect(found.first).toBe('/');
    });

    it('share no namespace with it', () => {
      const shared = kinds.filter((kind) => readlinkSync(`/proc/self/ns/${kind}`) === found.namespaces[kind]);
      expect(shared).toEqual(isOnEngine(way) ? ['user'] : []);
    });
  });
}

const engineInits = { docker: '/sbin/docker-init', podman: '/run/podman-init' };

/** Root of the sandbox as seen on the host; the ordinary account of the tests has subordinate ids from 400000. */
function rootIdOf(way: Way): number {
  return { root: 0x7000_0000, rootless: 400_000, docker: 0, podman: 0 }[way];
}

function asOrdinaryAccount(program: string): string {
  return execFileSync('setpriv', ['--reuid=54321', '--regid=54321', '--clear-groups', '--', program], {
    encoding: 'utf8',
  });
}

function isSetUserId(path: string): boolean {
  const stat = lstatSync(path);
  return stat.isFile() && (stat.mode & 0o4000) !== 0;
}

function pick(outcomes: Outcomes, names: readonly string[]): Outcomes {
  return Object.fromEntries(names.map((name) => [name, outcomes[name] ?? 'not asked']));
}
