/** A dockerd with bridges and published ports, in a network namespace of its own: the machine sees neither. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Dockerd } from './dockerd.ts';

export class NetworkedDockerd extends Dockerd {
  readonly #relays: ChildProcess[] = [];

  static override async open(): Promise<NetworkedDockerd> {
    const dockerd = new NetworkedDockerd(mkdtempSync(join(tmpdir(), 'carrel-dockerd-')));
    chmodSync(dockerd.folder, 0o711);
    await dockerd.prepare();
    return dockerd;
  }

  protected override command(): [string, ...string[]] {
    const withLoopback = 'ip link set lo up && exec "$@"';
    return ['unshare', '--net', '--', 'sh', '-c', withLoopback, 'sh', ...super.command()];
  }

  /** Opens a port in the network of this process that leads to a port of the dockerd. */
  async reach(port: number): Promise<number> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const enter = ['--net', `--target=${this.pid}`, '--', process.execPath];
    const relay = fork(resolve('test/fixtures/relay.mjs'), [String(port)], {
      execPath: 'nsenter',
      execArgv: enter,
    });
    this.#relays.push(relay);
    const { port: own } = server.address() as AddressInfo;
    relay.send('server', server);
    await once(relay, 'message');
    // From here on the relay alone accepts connections.
    server.close();
    return own;
  }

  override async dispose(): Promise<void> {
    for (const relay of this.#relays) {
      const exited = once(relay, 'exit');
      relay.kill('SIGKILL');
      await exited;
    }
    await super.dispose();
  }
}
