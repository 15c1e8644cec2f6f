/** What the tests inside the virtual machine have in common. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Account, Installation, until } from '../harness/installation.ts';

const patienceMs = 600_000;

/** In a session of their own, as after a login. */
export const dev: Account = {
  wrap: (argv) => ['su', 'dev', '-c', 'exec "$0" "$@"', '--', ...argv],
  prepareHome: (home) => execFileSync('chown', ['dev:dev', home]),
};

export const people: [string, Account | null][] = [
  ['root', null],
  ['an ordinary user', dev],
];

/** Where each of them works, on a disk. */
export const testbeds = people.map(([person, account], index) => ({
  person,
  account,
  folder: `/ext4/testbed-${index}`,
}));

/** An apply of many files. */
export const halfway = {
  project: '/xfs/halfway/project',
  home: '/xfs/halfway/home',
  names: Array.from({ length: 300 }, (_, index) => `file-${index}`),
  before: 'as it was',
  after: 'as the agent left it',
};

/** Ends the machine as a power cut does: what was not written to a disk yet is lost. The kernel's last words tell of it. */
export function cutPower(): never {
  writeFileSync('/proc/sys/kernel/sysrq', '1');
  writeFileSync('/proc/sysrq-trigger', 'b');
  for (;;);
}

/** So that a test can rely on it, as an owner can who saved long ago. */
export function syncAll(): void {
  execFileSync('sync');
}

/** The CLI over a home that outlives the machine. */
export async function carrelAt(home: string, account: Account | null) {
  const argvOf = (args: readonly string[]): [string, ...string[]] => {
    const argv = [process.execPath, '/carrel/bin/carrel', '--home', home, ...args];
    return (account ? account.wrap(argv) : argv) as [string, ...string[]];
  };
  await daemonUp(home, argvOf(['up']));
  return (...args: string[]): string => {
    const [file, ...rest] = argvOf(args);
    return execFileSync(file, rest, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  };
}

/** In here a daemon may take longer to come up than commands wait for it. */
async function daemonUp(home: string, [file, ...args]: [string, ...string[]]): Promise<void> {
  if (existsSync(join(home, 'carrel.sock'))) rmSync(join(home, 'carrel.sock'));
  spawn(file, args, { detached: true, stdio: 'ignore' }).unref();
  await until(() => existsSync(join(home, 'carrel.sock')), 'a daemon', patienceMs);
}

/** One with its daemon up, in a folder of that filesystem. */
export async function installation(account: Account | null, folder = '/tmp'): Promise<Installation> {
  const carrel = new Installation(account, null, folder);
  carrel.spawn(['up']);
  await until(() => existsSync(join(carrel.home, 'carrel.sock')), 'a daemon', patienceMs);
  return carrel;
}
