/** The engines of this installation: what they are, and whether sandboxes can be started on them. */
import type { EngineView } from '../api/routes.ts';
import { examineDocker, rowsFor } from '../engine/docker/probe.ts';
import type { EngineAbout, ProbeRow } from '../engine/engine.ts';
import type { EngineName } from '../model/sandbox.ts';
import type { Store } from '../store/store.ts';

export interface EngineParts {
  readonly local: { about(): Promise<EngineAbout> };
  /** Null: looked for where Docker and Podman have theirs. */
  readonly dockerSocket: string | null;
  readonly store: Store;
}

export class EngineDesk {
  readonly #parts: EngineParts;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  async list(): Promise<EngineView[]> {
    const { local, dockerSocket } = this.#parts;
    const [ours, docker] = await Promise.all([local.about(), examineDocker(dockerSocket)]);
    return [viewOf('local', ours), viewOf('docker', docker.about)];
  }

  /** For the doctor: a Docker Engine that the owner named, or that sandboxes are on, has to be there. */
  async dockerRows(): Promise<readonly ProbeRow[]> {
    const { dockerSocket, store } = this.#parts;
    const isUsed = store.list('sandbox').some(({ value }) => value.spec.engine === 'docker');
    return rowsFor(await examineDocker(dockerSocket), dockerSocket !== null || isUsed);
  }
}

function viewOf(name: EngineName, { version, runtime, runtimes, at, refusal }: EngineAbout): EngineView {
  const { reason = null, cure = null } = refusal ?? {};
  return { name, usable: refusal === null, version, runtime, runtimes: [...runtimes], at, reason, cure };
}
