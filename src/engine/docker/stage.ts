/**
 * What a container is to have, in the eyes of the Docker Engine. That opens what it mounts by path, in a mount namespace of
 * its own, and shifts no owners. So everything is bound on our own stage first, opened without passing through a link and
 * with its owner shown as agent, and the whole is copied to a folder of ours in the engine's namespace, for the moment in
 * which the container starts. It keeps what it got; where the copy is missing, its paths lead nowhere and nothing starts.
 */
import { existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { listenerOf } from '../../lib/sys.ts';
import { bindTreeInto, detachMount, detachMountFrom } from '../../lib/sys-mount.ts';
import type { Mount } from '../../model/mount.ts';
import { readIdSpace } from '../local/ids.ts';
import { type Ids, ownerNamespace } from '../local/owner-namespace.ts';
import { bindSource, openStage, setStage } from '../local/stage.ts';

export class Stage {
  readonly #socketPath: string;
  readonly #folder: string;

  constructor(socketPath: string, folder: string) {
    this.#socketPath = socketPath;
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o711 });
  }

  get isPossible(): boolean {
    return canShow(this.#socketPath);
  }

  #engine(): number | null {
    return engineAt(this.#socketPath);
  }

  /** Paths for the engine by the numbers of the mounts: of what is bound, and of what an overlay lies on. */
  async show(id: string, mounts: readonly Mount[], agent: Ids): Promise<ReadonlyMap<number, string>> {
    openStage();
    const target = this.#place(id);
    this.hide(id);
    const { folder, release } = setStage(`docker-${id}`);
    const shown = new Map<number, string>();
    try {
      for (const [index, mount] of mounts.entries()) {
        if (mount.kind === 'tmpfs') continue;
        await bindSource(sourceOf(mount), join(folder, String(index)), { agent, ownerNamespace });
        shown.set(index, join(target, String(index)));
      }
      mkdirSync(target, { mode: 0o711 });
      bindTreeInto(this.#engine()!, folder, target);
      return shown;
    } finally {
      release();
    }
  }

  isShown(id: string): boolean {
    return existsSync(this.#place(id));
  }

  /** Never what is mounted there, only the place: from a folder that is not empty it is not removed. */
  hide(id: string): void {
    const place = this.#place(id);
    if (!existsSync(place)) return;
    const engine = this.#engine();
    if (engine !== null) detachMountFrom(engine, place);
    detachMount(place);
    rmdirSync(place);
  }

  #place(id: string): string {
    return join(this.#folder, id);
  }
}

/** Needs root of the machine, and an engine whose namespace can be seen from here: one that runs beside us. */
export function canShow(socketPath: string): boolean {
  return !readIdSpace().rootless && engineAt(socketPath) !== null;
}

function engineAt(socketPath: string): number | null {
  try {
    const pid = listenerOf(socketPath);
    return pid > 0 && existsSync(`/proc/${pid}/ns/mnt`) ? pid : null;
  } catch {
    // Not there; whoever asks it something learns more, ignoring.
    return null;
  }
}

function sourceOf(mount: Exclude<Mount, { kind: 'tmpfs' }>): Extract<Mount, { kind: 'bind' }> {
  if (mount.kind === 'bind') return mount;
  const { lower: source, target, mapOwner = false } = mount;
  return { kind: 'bind', source, target, readonly: true, mapOwner };
}
