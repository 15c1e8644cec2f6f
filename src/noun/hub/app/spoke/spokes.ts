/** Spokes: the sandboxes of a user's projects, as the hub reaches them. */

import type { Project } from '../../../project/model/project.ts';
import type { SpokeMethod, SpokeMethods } from '../../model/spoke.ts';
import type { SpokeCallOptions, SpokeStreams } from '../../spoke/spoke.ts';
import { Spoke, type SpokeParts } from './spoke.ts';

export class Spokes {
  readonly #parts: SpokeParts;
  readonly #spokes = new Map<string, Spoke>();

  constructor(parts: SpokeParts) {
    this.#parts = parts;
  }

  async call<M extends SpokeMethod>(
    project: Project,
    method: M,
    request: SpokeMethods[M][0],
    options?: SpokeCallOptions,
  ): Promise<SpokeMethods[M][1]> {
    return this.#of(project).call(method, request, options);
  }

  /** Takes the connection of a spoke that runs elsewhere. */
  async accept(project: Project, streams: SpokeStreams): Promise<void> {
    return this.#of(project).accept(streams);
  }

  /** Begins the idle time of spokes that an earlier daemon may have left running. */
  adopt(projects: readonly Project[]): void {
    for (const project of projects) this.#of(project);
  }

  isHealthy(id: string): boolean {
    return this.#spokes.get(id)?.isHealthy ?? false;
  }

  /** Called before the project is removed. */
  release(id: string): void {
    this.#spokes.get(id)?.release();
    this.#spokes.delete(id);
  }

  #of(project: Project): Spoke {
    const known = this.#spokes.get(project.id);
    if (known) return known;
    const made = new Spoke(project, this.#parts);
    this.#spokes.set(project.id, made);
    return made;
  }
}
