/** Shared code of the tests inside the virtual machine. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Account, Installation, until } from '../harness/installation.ts';

const patienceMs = 600_000;

/** Runs a command in a session of its own, as after a login. */
export const dev: Account = {
  wrap: (argv) => ['su', 'dev', '-c', 'exec "$0" "$@"', '--', ...argv],
  prepareHome: (home) => execFileSync('chown', ['dev:dev', home]),
};

export const people: [string, Account | null][] = [
  ['root', null],
  ['an ordinary user', dev],
];

/** The folder on a disk in which each of them works. */
export const testbeds = people.map(([person, account], index) => ({
  person,
  account,
  folder: `/ext4/testbed-${index}`,
}));

/** An apply of many files, which the power cut interrupts. */
export const halfway = {
  project: '/xfs/halfway/project',
  home: '/xfs/halfway/home',
  names: Array.from({ length: 300 }, (_, index) => `file-${index}`),
  before: 'as it was',
  after: 'as the agent left it',
};

/** Ends the machine like a power cut: data that is not on a disk yet is lost. The kernel's last message shows it. */
export function cutPower(): never {
  writeFileSync('/proc/sys/kernel/sysrq', '1');
  writeFileSync('/proc/sysrq-trigger', 'b');
  for (;;);
}

/** Makes all data durable, as if it had been saved long before the power cut. */
export function syncAll(): void {
  execFileSync('sync');
}

/** Returns the CLI on a home that outlives the machine. */
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

/** In the machine, a daemon may take longer to start than commands wait for it. */
async function daemonUp(home: string, [file, ...args]: [string, ...string[]]): Promise<void> {
  if (existsSync(join(home, 'carrel.sock'))) rmSync(join(home, 'carrel.sock'));
  spawn(file, args, { detached: true, stdio: 'ignore' }).unref();
  await until(() => existsSync(join(home, 'carrel.sock')), 'a daemon', patienceMs);
}

/** An installation with a running daemon, in a folder of this filesystem. */
export async function installation(account: Account | null, folder = '/tmp'): Promise<Installation> {
  const carrel = new Installation(account, null, folder);
  carrel.spawn(['up']);
  await until(() => existsSync(join(carrel.home, 'carrel.sock')), 'a daemon', patienceMs);
  return carrel;
}
