/**
 * The stage: the mounts of a container, as the Docker Engine sees them. The engine opens sources by path, in its own
 * mount namespace, and does not map owners. So every source is first bound on the daemon's stage, opened without
 * following links and with its owner mapped to agent. The daemon copies the stage to a folder in the engine's mount
 * namespace while the container starts, and then detaches the copy. The container keeps its mounts; without the copy
 * their sources do not exist, and it cannot start.
 */
import { existsSync, mkdirSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere } from '../../../../lib/file/file.ts';
import { bindTreeInto, detachMount, detachMountFrom } from '../../../../lib/sys/sys-mount.ts';
import { listenerOf } from '../../../../lib/sys/sys-socket.ts';
import type { Mount } from '../../../../model/mount.ts';
import { readIdSpace } from '../../local/ids.ts';
import { innerMounts, nestMounts, outerMounts, withTrees } from '../../local/stage/nested.ts';
import { shiftBetween, type UserIds } from '../../local/stage/owner-namespace.ts';
import { bindSource, overlaySource } from '../../local/stage/source.ts';
import { openStage, setStage } from '../../local/stage/stage.ts';
import { noEngine } from '../connection/connection.ts';
import type { MountSources } from './source.ts';

/** The programs of engines, and systemd, which listens on an engine's socket until the engine is needed. */
const engines = ['dockerd', 'podman', 'systemd'];

/**
 * Whether the daemon mounts the overlay with this index itself, so that the engine does not mount it from its layers.
 */
export type IsMountedByDaemon = (index: number) => boolean;

export class MountStage {
  readonly #socketPath: string;
  readonly #folder: string;

  constructor(socketPath: string, folder: string) {
    this.#socketPath = socketPath;
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o711 });
  }

  get isPossible(): boolean {
    return canShow(this.#socketPath, this.#folder);
  }

  #engine(): number | null {
    return engineAt(this.#socketPath, this.#folder);
  }

  async show(
    id: string,
    mounts: readonly Mount[],
    agent: UserIds,
    isMountedByDaemon: IsMountedByDaemon,
  ): Promise<MountSources> {
    openStage();
    const target = this.#place(id);
    this.hide(id);
    const { folder, release } = setStage(`docker-${id}`);
    try {
      for (const [index, mount] of mounts.entries()) await putOn(folder, index, mount, agent, isMountedByDaemon(index));
      nestOn(folder, mounts, agent);
      mkdirSync(target, { mode: 0o711 });
      if (!this.#inEngine((engine) => bindTreeInto(engine, folder, target))) throw noEngine(this.#socketPath);
    } finally {
      release();
    }
    return { source: (index) => join(target, nameOf(index)), changes: (index) => join(target, changesOf(index)) };
  }

  isShown(id: string): boolean {
    return existsSync(this.#place(id));
  }

  /** Removes only the mount point, never what is mounted there: rmdir fails on a folder that is not empty. */
  hide(id: string): void {
    const place = this.#place(id);
    if (!existsSync(place)) return;
    this.#inEngine((engine) => detachMountFrom(engine, place));
    detachMount(place);
    rmdirSync(place);
  }

  /** False: there is no engine process. When an engine process dies, its mounts are gone, too. */
  #inEngine(work: (engine: number) => void): boolean {
    const engine = this.#engine();
    if (engine === null) return false;
    try {
      work(engine);
      return true;
    } catch (error) {
      if (this.#engine() === engine) throw error;
      return false;
    }
  }

  #place(id: string): string {
    return join(this.#folder, id);
  }
}

/**
 * Whether the daemon can show mounts to the engine: only as real root, to an engine on this machine that sees the same
 * folder.
 */
export function canShow(socketPath: string, folder: string): boolean {
  return !readIdSpace().rootless && engineAt(socketPath, folder) !== null;
}

function engineAt(socketPath: string, folder: string): number | null {
  try {
    const pid = listenerOf(socketPath);
    if (pid <= 0 || !engines.includes(readIfThere(`/proc/${pid}/comm`)?.trim() ?? '')) return null;
    const [here, there] = [statSync(folder), statSync(`/proc/${pid}/root${folder}`)];
    return here.dev === there.dev && here.ino === there.ino ? pid : null;
  } catch {
    // The process is gone or not visible, ignoring: the next request to the engine reports more.
    return null;
  }
}

const nameOf = (index: number) => String(index);
const changesOf = (index: number) => `${index}-changes`;

async function putOn(
  folder: string,
  index: number,
  mount: Mount,
  agent: UserIds,
  isMountedByDaemon: boolean,
): Promise<void> {
  const owners = { agent, ownerNamespace: shiftBetween, rootless: false };
  if (mount.kind === 'tmpfs') return;
  if (mount.kind === 'bind') return bindSource(mount, join(folder, nameOf(index)), owners);
  if (isMountedByDaemon) return overlaySource(mount, join(folder, nameOf(index)), owners);
  const { lower, target, mapOwner = false } = mount;
  const bound = { kind: 'bind', target } as const;
  await bindSource({ ...bound, source: lower, readonly: true, mapOwner }, join(folder, nameOf(index)), owners);
  await bindSource({ ...bound, source: mount.folder, readonly: false }, join(folder, changesOf(index)), owners);
}

/** The engine mounts an outer source together with the mounts inside it. */
function nestOn(folder: string, mounts: readonly Mount[], agent: UserIds): void {
  const outer = outerMounts(mounts);
  const root = (index: number) => join(folder, nameOf(index));
  withTrees(innerMounts(outer), root, (tree) => nestMounts({ mounts, outer, root, tree, agent }));
}
