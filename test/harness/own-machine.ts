/**
 * The parts of a machine that a page of the documentation may name, for one test: all ports of 127.0.0.1, hosts of the
 * Internet, the accounts ann, bob and jo, and /srv. It is a mount namespace, and a network namespace with nothing but
 * loopback. The servers for its hosts are in the process of the test.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Account } from './installation.ts';

/** A network that no machine uses; the kernel delivers packets for its addresses to servers of this namespace. */
const network = '45.0.0';

/** Accounts of the machine, besides its own. */
const accounts = ['ann', 'bob', 'jo'].map((name, index) => `${name}:x:${7001 + index}:7001::/nonexistent:/bin/sh\n`);

/** `$1`: a folder with the files `hosts` and `passwd` and the folder `srv`. */
const prepare = `set -e
ip link set lo up
ip route add local ${network}.0/24 dev lo
mount --bind "$1/hosts" /etc/hosts
mount --bind "$1/passwd" /etc/passwd
mount --bind "$1/srv" /srv
shift
exec "$@"`;

/** The working folder is entered by its name, since it is another mount in that namespace. */
const enter = 'target=$1; shift; exec nsenter --target="$target" --net --mount -- env --chdir="$PWD" -- "$@"';

export class OwnMachine {
  readonly #folder = mkdtempSync(join(tmpdir(), 'carrel-machine-'));
  readonly #addresses: ReadonlyMap<string, string>;
  readonly #holder: ChildProcess;

  private constructor(hosts: readonly string[]) {
    this.#addresses = new Map(hosts.map((host, index) => [host, `${network}.${index + 1}`]));
    const lines = [...this.#addresses].map(([host, address]) => `${address} ${host}\n`);
    writeFileSync(join(this.#folder, 'hosts'), `${readFileSync('/etc/hosts', 'utf8')}\n${lines.join('')}`);
    writeFileSync(join(this.#folder, 'passwd'), `${readFileSync('/etc/passwd', 'utf8')}${accounts.join('')}`);
    mkdirSync(join(this.#folder, 'srv'));
    this.#holder = fork(resolve('test/fixtures/listener.mjs'), [], {
      execPath: 'unshare',
      execArgv: [
        ...['--net', '--mount', '--propagation', 'private', '--', 'sh', '-c', prepare, 'sh', this.#folder],
        process.execPath,
      ],
    });
  }

  /** Opens a machine with these hosts, each at an address of its own. */
  static async open(hosts: readonly string[] = []): Promise<OwnMachine> {
    const machine = new OwnMachine(hosts);
    await once(machine.#holder, 'message');
    return machine;
  }

  get account(): Account {
    return {
      isPlain: true,
      wrap: (argv) => ['sh', '-c', enter, 'sh', String(this.#holder.pid), ...argv],
      prepareHome: () => {},
    };
  }

  /**
   * Opens a server that listens in the namespace, at one of the hosts or on loopback; another server of this process
   * can listen on it.
   */
  async listen(port: number, host?: string): Promise<Server> {
    this.#holder.send({ host: host === undefined ? '127.0.0.1' : this.#addresses.get(host)!, port });
    const [, server] = (await once(this.#holder, 'message')) as ['listening', Server];
    return server;
  }

  async dispose(): Promise<void> {
    const exited = once(this.#holder, 'exit');
    this.#holder.kill('SIGKILL');
    await exited;
    rmSync(this.#folder, { recursive: true });
  }
}
