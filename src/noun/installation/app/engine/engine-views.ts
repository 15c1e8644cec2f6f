/** The engines of this installation: what they are, and whether sandboxes can be started on them. */

import { type Examined, examineDocker, rowsFor } from '../../../../kernel/engine/docker/probe.ts';
import type { Engine, EngineAbout, ProbeRow } from '../../../../kernel/engine/engine.ts';
import { failure, ok } from '../../../../kernel/engine/probe-row.ts';
import { trySandbox } from '../../../../kernel/engine/trial.ts';
import type { Store } from '../../../../kernel/store/store.ts';
import type { EngineName } from '../../../../model/engine.ts';
import type { Fault } from '../../../../model/fault.ts';
import type { EngineView } from '../../api/engine.ts';

export interface EngineParts {
  readonly local: Engine & { about(): Promise<EngineAbout> };
  readonly docker: () => Engine;
  /** An image that sandboxes may be made of and that the engine has; null: none. */
  readonly someImage: () => Promise<string | null>;
  /** Null: the socket is looked for at the usual places of Docker and Podman. */
  readonly dockerSocket: string | null;
  readonly store: Store;
}

export class EngineViews {
  readonly #parts: EngineParts;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  async list(): Promise<EngineView[]> {
    const { local } = this.#parts;
    const [machine, docker] = await Promise.all([local.about(), this.#examineDocker()]);
    const about = await withTrial(machine, () => trySandbox(local));
    return [viewOf('local', about), viewOf('docker', docker.about)];
  }

  /** For the doctor: this machine, then the Docker Engine. */
  async rows(): Promise<readonly ProbeRow[]> {
    return (await Promise.all([this.#parts.local.probe(), this.#dockerRows()])).flat();
  }

  /** A Docker Engine is required if the owner named its socket or if sandboxes are on it. */
  async #dockerRows(): Promise<readonly ProbeRow[]> {
    const { dockerSocket, store } = this.#parts;
    const isUsed = store.list('sandbox').some(({ value }) => value.spec.engine === 'docker');
    return rowsFor(await this.#examineDocker(), dockerSocket !== null || isUsed);
  }

  async #examineDocker(): Promise<Examined> {
    const examined = await examineDocker(this.#parts.dockerSocket);
    if (examined.about.refusal !== null) return examined;
    const about = await withTrial(examined.about, () => this.#tryDocker());
    return { ...examined, about, rows: [...examined.rows, trialRow(about)] };
  }

  /**
   * An engine on another machine does not have the programs of this one, but a sandbox may still start from an image.
   */
  async #tryDocker(): Promise<Fault | null> {
    const { docker, someImage } = this.#parts;
    const fault = await trySandbox(docker());
    const reference = fault && (await someImage());
    return reference ? trySandbox(docker(), { kind: 'image', reference }) : fault;
  }
}

/** A refusal that the engine reports is kept; if it reports none, a trial sandbox is started. */
async function withTrial(about: EngineAbout, attempt: () => Promise<Fault | null>): Promise<EngineAbout> {
  const fault = about.refusal === null ? await attempt() : null;
  if (fault === null) return about;
  const hint = fault.hint && !fault.hint.includes('carrel doctor') ? fault.hint : elsewhere;
  return { ...about, refusal: { reason: `no sandbox starts: ${fault.message}`, hint } };
}

const elsewhere = 'The engine itself reports this error. Fix it there, or use the embedded engine: --engine local.';

function trialRow({ refusal }: EngineAbout): ProbeRow {
  if (refusal === null) return ok('docker-sandbox', 'a sandbox was started, and ended well');
  return failure('docker-sandbox', refusal.reason, refusal.hint);
}

function viewOf(name: EngineName, { version, runtime, runtimes, at, refusal }: EngineAbout): EngineView {
  const { reason = null, hint = null } = refusal ?? {};
  return { name, usable: refusal === null, version, runtime, runtimes: [...runtimes], at, reason, hint };
}
