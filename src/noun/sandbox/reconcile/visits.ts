/** Visits: short-lived sandboxes with the mounts and environment of sandboxes that do not run. */
import type { Handle } from '../../../kernel/engine/engine.ts';
import { type Sandbox, type SandboxSpec, withoutShares, withSpec } from '../model.ts';
import { launchOf, type StepParts } from './step.ts';
import { visitId } from './visit-id.ts';

/** Removes from the spec what a visit must not have. */
function bare({ spec }: Sandbox): Partial<SandboxSpec> {
  return { secrets: [], credentials: [], services: [], ...withoutShares(spec, () => true) };
}

export class Visits {
  readonly #parts: StepParts;
  readonly #ids = new Set<string>();

  constructor(parts: StepParts) {
    this.#parts = parts;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  async run<T>(sandbox: Sandbox, task: (id: string, handle: Handle) => Promise<T>): Promise<T> {
    const engine = this.#parts.engineOf(sandbox);
    const id = visitId(sandbox.id);
    this.#ids.add(id);
    try {
      // A visit that a crash left may have outdated mounts.
      await engine.remove(id, null);
      const launch = await launchOf(this.#parts, withSpec(sandbox, bare(sandbox)));
      const idle = { command: [], demanded: [], stdin: false, terminal: null, console: false };
      const { handle } = await engine.start({ ...launch, id, ...idle });
      return await task(id, handle);
    } finally {
      await engine.remove(id, null).finally(() => this.#ids.delete(id));
    }
  }
}
