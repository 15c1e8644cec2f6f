/** A Chroma server that runs elsewhere. */

import { asFault } from '../../model/fault.ts';
import type { ChromaStatus, ServerPlan } from './chroma.ts';
import { ChromaUpstream } from './chroma-upstream.ts';

const lookMs = 30_000;

export class RemoteChroma {
  readonly #upstream: ChromaUpstream;
  readonly #report: (status: ChromaStatus) => void;
  readonly #timer: NodeJS.Timeout;

  constructor(plan: Extract<ServerPlan, { kind: 'remote' }>, report: (status: ChromaStatus) => void) {
    this.#upstream = new ChromaUpstream(plan);
    this.#report = report;
    this.#timer = setInterval(() => void this.#look(), lookMs);
    void this.#look();
  }

  /** Resolves at once: whether the server answers shows with the request itself. */
  async ready(): Promise<ChromaUpstream> {
    return this.#upstream;
  }

  /** Does nothing: the files of the server are elsewhere. */
  async rest(): Promise<void> {}

  goOn(): void {}

  async dispose(): Promise<void> {
    clearInterval(this.#timer);
    this.#upstream.close();
  }

  async #look(): Promise<void> {
    try {
      this.#report({ state: 'ready', version: await this.#upstream.version(), reason: null, setAside: [] });
    } catch (error) {
      this.#report({ state: 'failed', version: null, reason: asFault(error).message, setAside: [] });
    }
  }
}
