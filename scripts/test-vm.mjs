// Runs test/vm in a virtual machine: a Debian kernel with only the unified hierarchy of control groups, systemd, three
// filesystems, and resets at the worst moments. Nothing is downloaded or installed: the machine sees this one's /usr
// and the checkout read-only, and its disks are files that are removed at the end.
import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const checkout = dirname(dirname(fileURLToPath(import.meta.url)));
// A machine that prints nothing for so long hangs. Every test prints how it ended.
const silentMs = 30 * 60_000;
const memory = '3G';
// Each phase is a boot and a file of test/vm. `cut` ends by a reset, and `after-cut` checks the result.
const phases = ['limits', 'frozen', 'cut', 'after-cut'];
// Instead of a phase: a shell in the machine, to look around.
const shell = 'shell';
const running = new Set();

// Files that must exist, each with its Debian package.
const needs = [
  ['/usr/bin/qemu-system-x86_64', 'qemu-system-x86'],
  ['/usr/lib/qemu/virtiofsd', 'qemu-system-common'],
  ['/usr/bin/busybox', 'busybox-static'],
  ['/usr/bin/cpio', 'cpio'],
  ['/usr/sbin/mkfs.ext4', 'e2fsprogs'],
  ['/usr/sbin/mkfs.xfs', 'xfsprogs'],
  ['/usr/sbin/mkfs.btrfs', 'btrfs-progs'],
  ['/usr/lib/systemd/systemd', 'systemd'],
  ['/usr/bin/dbus-daemon', 'dbus'],
  ['/usr/share/doc/libpam-systemd', 'libpam-systemd'],
];
const kernelFolder = process.env.CARREL_VM_KERNEL ?? '/';
const modules =
  'virtio_pci virtio_blk virtiofs overlay loop xfs btrfs crc32c_generic xxhash_generic blake2b_generic sha256_generic';
const disks = { ext4: ['mkfs.ext4', '-q'], xfs: ['mkfs.xfs', '-q'], btrfs: ['mkfs.btrfs', '-q'], swap: ['mkswap'] };
// Files of the host's /etc that programs of its /usr need.
const settings =
  'alternatives ca-certificates.conf dbus-1 ld.so.cache login.defs mke2fs.conf nsswitch.conf os-release pam.d security ssl/certs';

function fail(text) {
  console.error(`test:vm: ${text}`);
  process.exit(3);
}

function findKernel() {
  const boot = join(kernelFolder, 'boot');
  const images = existsSync(boot) ? readdirSync(boot).filter((name) => name.startsWith('vmlinuz-')) : [];
  const versions = images.map((name) => name.slice('vmlinuz-'.length)).filter((one) => existsSync(modulesOf(one)));
  return versions.sort().at(-1) ?? null;
}

function modulesOf(version) {
  return join(kernelFolder, 'lib/modules', version);
}

function checkNeeds() {
  if (process.getuid() !== 0) fail('it has to be root, to show its /usr to a virtual machine as it is');
  const packages = needs.filter(([path]) => !existsSync(path)).map(([, name]) => name);
  if (packages.length > 0) fail(`missing; to install: apt-get install --no-install-recommends ${packages.join(' ')}`);
  if (findKernel() !== null) return;
  fail(
    [
      `there is no kernel with its modules in ${kernelFolder}; either install linux-image-cloud-amd64, or have one unpacked:`,
      '  apt-get download $(apt-cache depends linux-image-cloud-amd64 | grep -o "linux-image-[0-9].*") && dpkg -x linux-image-*.deb /tmp/kernel',
      '  CARREL_VM_KERNEL=/tmp/kernel npm run test:vm',
    ].join('\n'),
  );
}

const bytesOf = (path) => (path.endsWith('.xz') ? execFileSync('xz', ['-dc', path]) : readFileSync(path));
const nameOf = (path) =>
  basename(path)
    .replace(/\.ko(\.xz)?$/, '')
    .replaceAll('-', '_');

/** The modules in the order in which they can be loaded. Modules that are built into the kernel have no file. */
function loadOrder(version) {
  const tree = modulesOf(version);
  const files = readdirSync(tree, { recursive: true }).filter((path) => /\.ko(\.xz)?$/.test(path));
  const paths = new Map(files.map((path) => [nameOf(path), join(tree, path)]));
  const order = new Map();
  const add = (name) => {
    const path = paths.get(name);
    if (path === undefined || order.has(name)) return;
    const bytes = bytesOf(path);
    const depends = /\0depends=([^\0]*)\0/.exec(bytes.toString('latin1'))?.[1] ?? '';
    for (const other of depends.split(',')) add(other.replaceAll('-', '_'));
    order.set(name, bytes);
  };
  for (const name of modules.split(' ')) add(name);
  return order;
}

function makeInitrd(folder, version) {
  const root = join(folder, 'root');
  for (const name of ['bin', 'modules', 'etc/systemd/system']) mkdirSync(join(root, name), { recursive: true });
  cpSync('/usr/bin/busybox', join(root, 'bin/busybox'));
  cpSync(join(checkout, 'test/vm/init'), join(root, 'init'));
  [...loadOrder(version)].forEach(([name, bytes], index) => {
    writeFileSync(join(root, 'modules', `${String(index).padStart(3, '0')}-${name}.ko`), bytes);
  });
  const copied = settings.split(' ').filter((name) => existsSync(join('/etc', name)));
  for (const name of copied) {
    cpSync(join('/etc', name), join(root, 'etc', name), { recursive: true, verbatimSymlinks: true });
  }
  writeAccounts(join(root, 'etc'));
  cpSync(join(checkout, 'test/vm/carrel-vm.service'), join(root, 'etc/systemd/system/carrel-vm.service'));
  const list = execFileSync('find', ['.'], { cwd: root });
  const archive = execFileSync('cpio', ['--quiet', '-o', '-H', 'newc'], { cwd: root, input: list, maxBuffer: 2 ** 30 });
  writeFileSync(join(folder, 'initrd'), archive);
  rmSync(root, { recursive: true });
}

function writeAccounts(etc) {
  for (const [name, own] of [
    ['passwd', 'dev:x:1000:1000::/home/dev:/bin/bash'],
    ['group', 'dev:x:1000:'],
  ]) {
    const isSystem = (line) => Number(line.split(':')[2]) < 1000;
    const lines = readFileSync(join('/etc', name), 'utf8').split('\n').filter(isSystem);
    writeFileSync(join(etc, name), [...lines, own, ''].join('\n'));
  }
  for (const name of ['subuid', 'subgid']) writeFileSync(join(etc, name), 'dev:100000:65536\n');
  writeFileSync(join(etc, 'shadow'), 'root:*:19000::::::\ndev:*:19000::::::\n', { mode: 0o600 });
  writeFileSync(join(etc, 'hostname'), 'carrel-vm\n');
  writeFileSync(join(etc, 'machine-id'), `${'c'.repeat(32)}\n`);
}

function makeDisks(folder) {
  for (const [name, [program, ...options]] of Object.entries(disks)) {
    writeFileSync(join(folder, name), '', { mode: 0o600 });
    truncateSync(join(folder, name), 4 * 1024 ** 3);
    execFileSync(program, [...options, join(folder, name)], { stdio: 'ignore' });
  }
}

/** Starts a program that ends with this one. */
function begin(program, args, stdio) {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', program, ...args], { stdio });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Kills the program and waits for its end: the servers of the next machine use the same sockets. */
function ended(child) {
  child.kill('SIGKILL');
  return new Promise((resolve) => child.once('exit', resolve));
}

/** Starts a file server, which ends with the machine that it serves. */
async function share(folder, tag, source) {
  const socket = join(folder, `${tag}.socket`);
  rmSync(socket, { force: true });
  const options = `source=${source},cache=always,sandbox=chroot,xattr,log_level=err`;
  begin('/usr/lib/qemu/virtiofsd', [`--socket-path=${socket}`, '-o', options], ['ignore', 'ignore', 'inherit']);
  while (!existsSync(socket)) await sleep(10);
}

function qemuArgs(folder, version, phase) {
  const options = {
    accel: 'tcg,thread=multi',
    cpu: 'max',
    smp: '2',
    m: memory,
    machine: 'q35,memory-backend=memory',
    object: `memory-backend-memfd,id=memory,size=${memory},share=on`,
    display: 'none',
    serial: 'stdio',
    kernel: join(kernelFolder, 'boot', `vmlinuz-${version}`),
    initrd: join(folder, 'initrd'),
    append: `console=ttyS0 quiet panic=-1 systemd.unit=carrel-vm.service systemd.show_status=0 carrel.phase=${phase}`,
  };
  const given = Object.entries(options).flatMap(([name, value]) => [`-${name}`, value]);
  const drives = Object.keys(disks).map((name) => `file=${join(folder, name)},format=raw,if=virtio,cache=unsafe`);
  const shared = ['usr', 'checkout'].flatMap((tag) => [
    ...['-chardev', `socket,id=${tag},path=${join(folder, `${tag}.socket`)}`],
    ...['-device', `vhost-user-fs-pci,chardev=${tag},tag=${tag}`],
  ]);
  return [
    '-nodefaults',
    '-no-user-config',
    '-no-reboot',
    ...given,
    ...drives.flatMap((one) => ['-drive', one]),
    ...shared,
  ];
}

/** Boots the machine for one phase; true: the phase succeeded. */
async function run(folder, version, phase) {
  console.log(`test:vm: ${phase}`);
  await Promise.all([share(folder, 'usr', '/usr'), share(folder, 'checkout', checkout)]);
  const stdio = phase === shell ? 'inherit' : ['ignore', 'pipe', 'inherit'];
  const machine = begin('qemu-system-x86_64', qemuArgs(folder, version, phase), stdio);
  if (phase === shell) return new Promise((resolve) => machine.once('exit', (code) => resolve(code === 0)));
  const timer = setTimeout(() => machine.kill('SIGKILL'), silentMs);
  let end = null;
  for await (const line of createInterface({ input: machine.stdout })) {
    end = /carrel-vm: exit \d+|sysrq: Resetting/.exec(line)?.[0] ?? end;
    console.log(`  ${line.trimEnd()}`);
    timer.refresh();
  }
  clearTimeout(timer);
  await Promise.all([...running].map(ended));
  return end === (phase === 'cut' ? 'sysrq: Resetting' : 'carrel-vm: exit 0');
}

async function main() {
  checkNeeds();
  const asked = process.argv.slice(2);
  const unknown = asked.filter((name) => name !== shell && !phases.includes(name));
  if (unknown.length > 0) fail(`unknown phase ${unknown.join(', ')}; there are ${[...phases, shell].join(', ')}`);
  const folder = mkdtempSync(join(tmpdir(), 'carrel-vm-'));
  process.on('exit', () => {
    for (const child of running) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130));
  const version = findKernel();
  makeInitrd(folder, version);
  makeDisks(folder);
  for (const phase of asked.length > 0 ? asked : phases) {
    if (!(await run(folder, version, phase))) {
      console.error(`test:vm: ${phase} failed`);
      process.exit(1);
    }
  }
  console.log('test:vm: all is well');
  process.exit(0);
}

await main();
