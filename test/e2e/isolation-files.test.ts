// @needs root
/** Which of the host's files, variables, descriptors, mounts and devices a sandbox can see, and which it can change. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type Entrance,
  entrances,
  everyWay,
  isOnEngine,
  linkOr,
  type Testbed,
  type Way,
  waysWithPodman,
} from '../fixtures/attacks/testbed.ts';

interface Look {
  readonly folders: Readonly<Record<string, readonly string[]>>;
  readonly reached: Readonly<Record<string, string>>;
  readonly named: readonly string[];
  readonly environ: readonly number[];
  readonly variables: readonly string[];
  readonly descriptors: readonly number[];
  readonly accounts: string;
}

interface Mounts {
  readonly mounts: readonly { readonly target: string; readonly options: readonly string[]; readonly type: string }[];
  readonly made: Readonly<Record<string, string>>;
  readonly overwritten: Readonly<Record<string, string>>;
  readonly changed: Readonly<Record<string, string>>;
  readonly readonly: Readonly<Record<string, boolean>>;
  readonly writable: readonly string[];
  readonly cgroups: readonly string[];
  readonly cgroupFolder: readonly string[];
}

interface Devices {
  readonly names: readonly string[];
  readonly numbers: Readonly<Record<string, readonly number[]>>;
  readonly opened: Readonly<Record<string, string>>;
  readonly used: Readonly<Record<string, string>>;
  readonly terminal: string;
  readonly changed: Readonly<Record<string, readonly string[]>>;
  readonly made: Readonly<Record<string, string>>;
  readonly strays: readonly string[];
  readonly masked: Readonly<Record<string, number | string>>;
}

const programFolders = ['bin', 'lib', 'lib32', 'lib64', 'libx32', 'sbin'];
const ownFolders = ['.data', 'dev', 'etc', 'home', 'opt', 'proc', 'run', 'sys', 'tmp', 'usr', 'var'];
const absentFolders = ['/root', '/boot', '/mnt', '/srv', '/media', '/lost+found', '/home/user', '/var/lib', '/var/log'];
const privateFiles = ['/etc/shadow', '/etc/gshadow', '/etc/sudoers', '/etc/subuid', '/etc/machine-id', '/etc/fstab'];

/** The variables that Carrel gives to a sandbox, and those that Python and a terminal add. */
const ownVariables =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_CTYPE|TERM|PWD|IS_SANDBOX|CARREL_SANDBOX|SESSION_FILE|MESSAGES_FILE|GIT_CONFIG_SYSTEM)$/;

const readonlyFolders = ['/', '/usr', '/etc', '/opt/carrel/bin', '/run/carrel/metadata', '/sys', '/proc/sys'];
const otherFolders = ['/home', '/run', '/var', '/dev', '/proc', '/sys/fs/cgroup', '/sys/kernel', '/etc/ssl'];
const kernelFiles = [
  ...['/proc/sys/kernel/hostname', '/proc/sys/kernel/core_pattern', '/proc/sys/vm/overcommit_memory'],
  ...['/proc/sysrq-trigger', '/proc/irq/default_smp_affinity', '/sys/power/state', '/sys/class/net/lo/mtu'],
  ...['/etc/passwd', '/etc/resolv.conf', '/usr/bin/env', '/opt/carrel/init', '/run/carrel/metadata/sandbox.json'],
];

/** Where mounts are expected. A folder such as /bin is a link into /usr except on systems that never merged them. */
const mountPoints = [
  /^\/$/,
  /^\/(usr|bin|sbin|lib|lib32|lib64|libx32)$/,
  /^\/etc\/(alternatives|crypto-policies|pki\/ca-trust\/extracted|pki\/tls\/certs|ssl\/certs)$/,
  /^\/(\.data|home\/agent|tmp|opt\/carrel\/(init|bin)|run\/carrel\/metadata)$/,
  /^\/dev(\/(pts|shm|null|zero|full|random|urandom|tty))?$/,
  /^\/proc(\/[\w-]+)?$/,
  /^\/sys(\/(dev\/block|devices\/system\/cpu|devices\/virtual\/powercap|firmware|fs\/selinux|kernel))?$/,
];

const deviceNames = [
  ...['core', 'fd', 'full', 'null', 'ptmx', 'pts', 'random', 'shm'],
  ...['stderr', 'stdin', 'stdout', 'tty', 'urandom', 'zero'],
];
const forbiddenDevices = [
  ...[
    'kmsg',
    'mem',
    'port',
    'kvm',
    'fuse',
    'loop-control',
    'loop0',
    'vda',
    'sda',
    'nvme0n1',
    'console',
    'tty0',
    'tty1',
  ],
  ...['net/tun', 'vsock', 'vhost-net', 'uinput', 'snapshot', 'hpet', 'rtc0', 'userfaultfd', 'mapper/control', 'mqueue'],
].map((name) => `/dev/${name}`);

const maskedPaths = [
  ...['acpi', 'asound', 'interrupts', 'kallsyms', 'kcore', 'keys', 'key-users', 'kmsg', 'latency_stats', 'modules'],
  ...['sched_debug', 'scsi', 'sysrq-trigger', 'timer_list', 'timer_stats'],
]
  .map((name) => `/proc/${name}`)
  .concat('/sys/firmware', '/sys/kernel', '/sys/dev/block');

function hostPaths({ canary, carrel }: Testbed): string[] {
  const home = ['', 'carrel.sock', 'carrel.db', 'daemon.lock', 'sandboxes', 'engine'].map((name) =>
    join(carrel.home, name),
  );
  return [canary, ...home, ...absentFolders, ...privateFiles];
}

/** What a Docker Engine and Podman always add. */
const dockerFolders = ['.dockerenv'];
const addedVariables = { docker: ['HOSTNAME'], podman: ['HOSTNAME', 'container'] };
const addedToRun = { docker: [], podman: ['.containerenv', 'podman-init'] };
const dockerMounts = [
  /^\/dev\/mqueue$/,
  /^\/(sbin\/docker-init|run\/podman-init|run\/.containerenv)$/,
  /^\/etc\/(passwd|group|hosts|hostname|resolv\.conf)$/,
  /^\/sys\//,
];

everyWay(
  'files',
  (testbed, way) => {
    hostFiles(testbed, way);
    mountsAndWriting(testbed, way);
    devices(testbed, way);
  },
  waysWithPodman,
);

function hostFiles(testbed: () => Testbed, way: Way): void {
  describe.each(entrances)('a sandbox, seen by its %s,', (entrance: Entrance) => {
    let look: Look;
    beforeAll(async () => {
      const { token } = testbed();
      look = await testbed().attack<Look>('look', { token, paths: hostPaths(testbed()) }, entrance);
    });

    it('has nothing at the root but its own folders', () => {
      const known = [...ownFolders, ...programFolders, ...(isOnEngine(way) ? dockerFolders : [])];
      expect(look.folders['/']!.filter((name) => !known.includes(name))).toEqual([]);
      expect(readdirSync('/')).toContain('root');
    });

    it('has only its own home, run and var', () => {
      expect(look.folders).toMatchObject({
        '/home': ['agent'],
        '/run': [...(isOnEngine(way) ? addedToRun[way] : []), 'carrel'].sort(),
        '/run/carrel': ['metadata'],
        '/var': ['tmp'],
        '/opt': ['carrel'],
      });
      expect(readdirSync('/var').length).toBeGreaterThan(1);
    });

    it('reaches no file of the host by any path', () => {
      expect(Object.entries(look.reached).filter(([, outcome]) => outcome !== 'ENOENT')).toEqual([]);
      expect(hostPaths(testbed()).filter((path) => existsSync(path)).length).toBeGreaterThan(5);
    });

    it('finds no file with the name of a file of the host', () => {
      expect(look.named).toEqual([]);
    });

    it('has no account of the host in /etc/passwd', () => {
      expect(look.accounts.match(/^\w+/gm)).toEqual(['root', 'agent', 'nobody']);
    });

    it('inherits no variable of the daemon or the person', () => {
      expect(look.environ).toEqual([]);
      const foreign = look.variables.filter((name) => !ownVariables.test(name));
      expect(foreign).toEqual(isOnEngine(way) ? addedVariables[way] : []);
      expect(readFileSync(`/proc/${testbed().carrel.daemonPid}/environ`, 'utf8')).toContain(testbed().token);
    });

    it('inherits no descriptor', () => {
      expect(look.descriptors).toEqual([]);
      expect(descriptorsOf(testbed().carrel.daemonPid)).toContain(testbed().canary);
    });
  });

  it('an exec in the folder /proc/self/fd/N lists no folder of the host', async () => {
    const { carrel, token } = testbed();
    const list = (cwd: string) =>
      carrel.run(['exec', '--cwd', cwd, 'attacker', '--', 'sh', '-c', 'ls -a . .. ../.. ../../..']);
    expect((await list('/tmp')).stdout).toMatch(/^bin$/m);
    const found = await Promise.all(Array.from({ length: 16 }, (_, fd) => list(`/proc/self/fd/${fd + 3}`)));
    expect(found.map(({ stdout }) => stdout).join('')).not.toMatch(new RegExp(`${token}|daemon.lock|vmlinuz|root`));
  });
}

function mountsAndWriting(testbed: () => Testbed, way: Way): void {
  const known = [...mountPoints, ...(isOnEngine(way) ? dockerMounts : [])];

  describe.each(['command', 'exec'] as const)('a sandbox, by the mounts and writes of its %s,', (entrance) => {
    let found: Mounts;
    beforeAll(async () => {
      const folders = [...readonlyFolders, ...otherFolders];
      const args = { folders, files: kernelFiles, readonly: readonlyFolders };
      found = await testbed().attack<Mounts>('mounts', args, entrance);
    });

    it('has no mount but those of a sandbox', () => {
      const targets = found.mounts.map(({ target }) => target);
      expect(targets.filter((target) => !known.some((one) => one.test(target)))).toEqual([]);
      expect(targets).toContain('/usr');
    });

    it('has no writable mount that honours set-user-id or devices', () => {
      const own = found.mounts.filter(({ target }) => /^\/(\.data|home\/agent|tmp|dev\/shm)$/.test(target));
      expect(own).toHaveLength(4);
      for (const { target, options } of own)
        expect([target, ...options]).toEqual(expect.arrayContaining(['nosuid', 'nodev']));
    });

    it('has a root, programs, kernel settings and /sys that are mounted read-only', () => {
      expect(found.readonly).toEqual(Object.fromEntries(readonlyFolders.map((path) => [path, true])));
    });

    it('cannot make a file in folders that are not its own', () => {
      expect(refusals(found.made)).toEqual(['EACCES', 'ENOENT', 'EROFS']);
    });

    it('cannot open files of the system for writing', () => {
      expect(refusals(found.overwritten).filter((outcome) => !['EACCES', 'ENOENT', 'EROFS'].includes(outcome))).toEqual(
        [],
      );
    });

    it('cannot change, move or delete programs', () => {
      expect(Object.keys(found.changed).length).toBeGreaterThan(2);
      for (const outcome of Object.values(found.changed)) expect(outcome).toMatch(/^(EROFS|EACCES|EPERM|EBUSY)$/);
    });

    it('can write to no other path', () => {
      const devices = ['full', 'null', 'ptmx', 'random', 'tty', 'urandom', 'zero'].map((name) => `/dev/${name}`);
      expect(found.writable.filter((path) => !devices.includes(path))).toEqual(isOnEngine(way) ? ['/dev/mqueue'] : []);
    });

    it('sees no control group but its own, as the root of all', () => {
      expect(found.cgroups.filter((line) => !line.endsWith(':/'))).toEqual([]);
      expect(found.cgroupFolder).toEqual([]);
      // A Docker Engine mounts the groups read-only, and Carrel covers them.
      const mounted = found.mounts.filter(({ type }) => type.startsWith('cgroup'));
      if (isOnEngine(way)) expect(mounted.filter(({ options }) => !options.includes('ro'))).toEqual([]);
      else expect(mounted).toEqual([]);
      expect(readdirSync('/sys/fs/cgroup')).not.toEqual([]);
    });
  });
}

function devices(testbed: () => Testbed, way: Way): void {
  describe('devices and masked files', () => {
    let found: Devices;
    let nullBefore: number;
    let nullOwnerBefore: number;
    beforeAll(async () => {
      nullBefore = statSync('/dev/null').mode;
      nullOwnerBefore = statSync('/dev/null').uid;
      found = await testbed().attack<Devices>('devices', { forbidden: forbiddenDevices, masked: maskedPaths });
    });

    // A Docker Engine mounts the sandbox's own POSIX queues there.
    const queues = isOnEngine(way) ? ['mqueue'] : [];

    it('has the harmless devices and no other', () => {
      expect(found.names.filter((name) => !deviceNames.includes(name))).toEqual(queues);
      expect(found.numbers).toEqual({
        full: [1, 7],
        null: [1, 3],
        random: [1, 8],
        tty: [5, 0],
        urandom: [1, 9],
        zero: [1, 5],
      });
      expect(Object.values(found.used)).toEqual(Array(5).fill('ok'));
      expect(found.terminal).toBe('ok');
    });

    it('can open no disk, no memory and no kernel log', () => {
      const opened = Object.keys(found.opened).filter((path) => found.opened[path] !== 'ENOENT');
      expect(opened).toEqual(queues.map((name) => `/dev/${name}`));
      expect(forbiddenDevices.filter((path) => existsSync(path))).not.toEqual([]);
    });

    it('can make no device, and finds none', () => {
      expect(found.made).toEqual({ character: 'EPERM', block: 'EPERM', pipe: 'ok' });
      expect(found.strays).toEqual([]);
    });

    it("cannot change the host's devices, which it shares", () => {
      expect(Object.keys(found.changed)).not.toEqual([]);
      for (const [chmod, utime, setxattr] of Object.values(found.changed)) {
        // The devices that a Docker Engine makes belong to the sandbox.
        const tried = isOnEngine(way) ? [chmod, setxattr] : [chmod, utime, setxattr];
        for (const outcome of tried) expect(outcome).toMatch(/^(EROFS|EPERM|EACCES)$/);
      }
      expect(statSync('/dev/null').mode).toBe(nullBefore);
    });

    it("leaves the host's devices with their owner", () => {
      expect(statSync('/dev/null').uid).toBe(nullOwnerBefore);
    });

    it('reads nothing from masked files', () => {
      const shown = Object.entries(found.masked).filter(([, content]) => typeof content === 'number' && content > 0);
      expect(shown).toEqual([]);
      expect(readFileSync('/proc/interrupts', 'utf8')).not.toBe('');
    });
  });
}

function descriptorsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).map((fd) => linkOr(`/proc/${pid}/fd/${fd}`, ''));
}

function refusals(outcomes: Readonly<Record<string, string>>): string[] {
  return [...new Set(Object.values(outcomes))].sort();
}
