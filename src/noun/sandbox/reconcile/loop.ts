/**
 * Keeps sandboxes settled: all of them at the start and every 30 seconds, and each that an engine reports as changed.
 */
import type { Engines } from '../../../kernel/engine/engines.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { asFault, type Fault } from '../../../model/fault.ts';
import { hasEnded } from '../model.ts';
import { removeOrphans } from './orphans.ts';
import type { Reconciler } from './reconcile.ts';

export interface LoopParts {
  readonly store: Store;
  readonly engines: Pick<Engines, 'of' | 'list' | 'onChange'>;
  readonly reconciler: Reconciler;
  readonly report: (id: string, fault: Fault) => void;
}

const sweepMs = 30_000;

export class Loop {
  readonly #parts: LoopParts;
  #timer: NodeJS.Timeout | undefined;
  #forget = () => {};

  constructor(parts: LoopParts) {
    this.#parts = parts;
  }

  /** Resolves when all sandboxes are settled and everything that a crash left is cleaned up. */
  async start(): Promise<void> {
    this.#forget = this.#parts.engines.onChange((id) => void this.wake(id));
    await this.#swept();
    await this.#freeEnded();
    this.#timer = setInterval(() => void this.#swept(), sweepMs);
    this.#timer.unref();
  }

  /** Frees the resources of ended sandboxes: an earlier daemon may have died after it recorded the end. */
  async #freeEnded(): Promise<void> {
    const { store, engines, report } = this.#parts;
    for (const { id, value } of store.list('sandbox').filter(({ value }) => hasEnded(value.status))) {
      const stop = async () => engines.of(value).stop(id, value.status.handle, 0);
      await stop().catch((error: unknown) => report(id, asFault(error)));
    }
  }

  async wake(id: string): Promise<void> {
    try {
      await this.#parts.reconciler.settle(id);
    } catch (error) {
      this.#parts.report(id, asFault(error));
    }
  }

  async #swept(): Promise<void> {
    await this.sweep().catch((error: unknown) => this.#parts.report('sweep', asFault(error)));
  }

  async sweep(): Promise<void> {
    const { store, engines, reconciler, report } = this.#parts;
    await removeOrphans(store, engines, report, (id) => reconciler.isVisit(id));
    await Promise.all(store.list('sandbox').map((row) => this.wake(row.id)));
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#forget();
  }
}
