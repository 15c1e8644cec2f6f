/** What the tests inside the virtual machine have in common. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, closeSync, openSync, writeFileSync } from 'node:fs';
import type { Account } from '../harness/installation.ts';

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
export const grounds = people.map(([person, account], index) => ({ person, account, folder: `/ext4/ground-${index}` }));

/** An apply of many files. */
export const halfway = {
  folder: '/xfs/halfway',
  project: '/xfs/halfway/project',
  home: '/xfs/halfway/home',
  names: Array.from({ length: 1000 }, (_, index) => `file-${index}`),
  before: 'as it was',
  after: 'as the agent left it',
};

/** Ends the machine as a power cut does: what was not written to a disk yet is lost. */
export function cutPower(): never {
  writeFileSync('/proc/sys/kernel/sysrq', '1');
  const console = openSync('/dev/ttyS0', 'a');
  appendFileSync(console, '\ncarrel-vm: reset\n');
  closeSync(console);
  writeFileSync('/proc/sysrq-trigger', 'b');
  for (;;);
}

/** So that a test can rely on it, as an owner can who saved long ago. */
export function syncAll(): void {
  execFileSync('sync');
}

/** The CLI over a home that outlives the machine. */
export function carrelAt(home: string, account: Account | null) {
  const bin = [process.execPath, '/carrel/bin/carrel'];
  return (...args: string[]): string => {
    const argv = [...bin, '--home', home, ...args];
    const [file, ...rest] = account ? account.wrap(argv) : argv;
    return execFileSync(file!, rest, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  };
}
