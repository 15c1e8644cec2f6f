/**
 * Podman behind the interface of a Docker Engine, for a test: private socket, folders and settings. Its containers go
 * on without it, so they are ended first.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../../src/kernel/engine/local/runtime/runtime.ts';
import { run } from '../../src/lib/process/run.ts';
import { Dockerd } from './dockerd.ts';
import { isRepeated } from './machine.ts';

/** The programs that answer at the socket of a Docker Engine, by name. */
export const dockerEngines: readonly (readonly [name: 'docker' | 'podman', open: () => Promise<Dockerd>])[] = [
  ['docker', () => Dockerd.open()],
  ...(isRepeated ? ([['podman', () => Podman.open()]] as const) : []),
];

/** Podman supports no other runtime on a machine with mixed versions of control groups. */
const runtime = 'runc';

export class Podman extends Dockerd {
  static override async open(): Promise<Podman> {
    const podman = new Podman(mkdtempSync(join(tmpdir(), 'carrel-podman-')));
    podman.#write();
    await podman.prepare();
    return podman;
  }

  /** Restarts Podman with these settings in place of its own. */
  async configure(change: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.stop();
    this.#write(change);
    await this.start();
  }

  #write(change: Readonly<Record<string, string>> = {}): void {
    const quoted = (settings: Readonly<Record<string, string | null>>) =>
      Object.entries(settings)
        .map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`)
        .join('');
    const engine = {
      cgroup_manager: 'cgroupfs',
      events_logger: 'file',
      // Otherwise locks are in memory that the whole machine shares, and stay there.
      lock_type: 'file',
      runtime,
      init_path: findProgram('docker-init'),
      ...change,
    };
    writeFileSync(this.#file('containers.conf'), `[engine]\n${quoted(engine)}`);
    const storage = { driver: 'overlay', graphroot: this.#file('root'), runroot: this.#file('run') };
    writeFileSync(this.#file('storage.conf'), `[storage]\n${quoted(storage)}`);
  }

  #file(name: string): string {
    return join(this.folder, name);
  }

  #podman(...args: string[]): [string, ...string[]] {
    const settings = {
      CONTAINERS_CONF: this.#file('containers.conf'),
      CONTAINERS_STORAGE_CONF: this.#file('storage.conf'),
      // Podman asks dpkg for the packages of its programs at each request for its version, which takes longer than all else.
      DPKG_ADMINDIR: '/dev/null',
    };
    const places = ['--root', this.#file('root'), '--runroot', this.#file('run'), '--tmpdir', this.#file('tmp')];
    return ['env', ...Object.entries(settings).map((pair) => pair.join('=')), 'podman', ...places, ...args];
  }

  protected override command(): [string, ...string[]] {
    return this.#podman('system', 'service', '--time', '0', `unix://${this.socketPath}`);
  }

  override async dispose(): Promise<void> {
    await this.stop();
    await run(this.#podman('rm', '--all', '--force', '--time', '0'));
    await super.dispose();
  }
}
