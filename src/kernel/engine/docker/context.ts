/** State that the files of this engine share. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere, writeWhole } from '../../../lib/file/file.ts';
import { defaultLog, type LogLimits } from '../engine.ts';
import { readIdSpace } from '../local/ids.ts';
import { logName } from '../local/log/log-file.ts';
import { LogWatch } from '../local/log/log-watch.ts';
import { seccompProfile } from '../local/runtime/seccomp.ts';
import { Connection } from './connection/connection.ts';
import { Containers } from './connection/containers.ts';
import { askFacts, type EngineFacts } from './connection/facts.ts';
import { findSocket } from './connection/socket.ts';
import type { HostOwner } from './mounts/identity.ts';
import { type IdMaps, onHost, readIdMaps } from './mounts/source.ts';
import { MountStage } from './mounts/stage.ts';
import { findView, type View } from './mounts/view.ts';

export interface DockerOptions {
  /** Where the engine keeps its files. */
  readonly folder: string;
  /** Distinguishes this installation's containers from those of others. */
  readonly installation: string;
  /** Default: DOCKER_HOST, or the first socket of Docker or Podman that exists. */
  readonly socketPath?: string;
  readonly log?: LogLimits;
}

const factsMs = 30_000;
const rootId = 0;

export class DockerContext {
  readonly connection: Connection;
  readonly containers: Containers;
  readonly installation: string;
  readonly maps: IdMaps = readIdMaps();
  /** The daemon is root in a user namespace only. */
  readonly rootless = readIdSpace().rootless;
  readonly folder: string;
  readonly stage: MountStage;
  readonly filter = JSON.stringify(seccompProfile(process.arch));
  readonly log: LogLimits;
  /** Watches the logs that are in the engine's folder. */
  readonly logs: LogWatch;
  #view: Promise<View> | null = null;
  #facts: { readonly until: number; readonly found: Promise<EngineFacts> } | null = null;

  constructor(options: DockerOptions) {
    this.folder = options.folder;
    this.installation = options.installation;
    this.log = options.log ?? defaultLog;
    this.connection = new Connection(options.socketPath ?? findSocket(process.env));
    this.containers = new Containers(this.connection, this.installation);
    mkdirSync(this.runs, { recursive: true, mode: 0o711 });
    this.logs = new LogWatch(this.runs, this.log.files);
    this.stage = new MountStage(this.connection.socketPath, join(this.folder, 'stage'));
  }

  get runs(): string {
    return join(this.folder, 'run');
  }

  get pauses(): string {
    return join(this.folder, 'paused');
  }

  run(id: string): string {
    return join(this.runs, id);
  }

  /** The seccomp filter as a file, for Podman. */
  filterFile(): string {
    const path = join(this.folder, 'seccomp.json');
    if (readIfThere(path) !== this.filter) writeWhole(path, this.filter);
    return path;
  }

  /** Creates the run folder of a sandbox. It is the first trace of the sandbox and is removed last. */
  begin(id: string): void {
    mkdirSync(this.run(id), { mode: 0o711 });
  }

  isBegun(id: string): boolean {
    return existsSync(this.run(id));
  }

  /** Whether the log of the sandbox is in the engine's folder. */
  hasLog(id: string): boolean {
    return existsSync(join(this.run(id), logName));
  }

  /**
   * The owner of all files that a rootless daemon makes, as ids of the host. Null: the daemon is root and can choose
   * the owner.
   */
  get self(): HostOwner | null {
    if (!this.rootless) return null;
    return onHost({ uid: rootId, gid: rootId }, this.maps);
  }

  /** Determined once: it does not change while the daemon runs. */
  view(image: string): Promise<View> {
    const { connection, folder, installation } = this;
    this.#view ??= findView({ connection, folder, installation, image });
    this.#view.catch(() => {
      this.#view = null;
    });
    return this.#view;
  }

  /** Cached for `factsMs`: the engine may be replaced while the daemon runs. */
  facts(): Promise<EngineFacts> {
    if (this.#facts === null || Date.now() > this.#facts.until) this.#facts = this.#ask();
    return this.#facts.found;
  }

  #ask(): { until: number; found: Promise<EngineFacts> } {
    const found = askFacts(this.connection);
    found.catch(() => {
      this.#facts = null;
    });
    return { until: Date.now() + factsMs, found };
  }
}
