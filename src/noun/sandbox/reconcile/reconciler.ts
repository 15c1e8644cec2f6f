/** Takes turns, one at a time for each sandbox. */
import type { Handle, Observed } from '../../../kernel/engine/engine.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { Exclusive } from '../../../lib/flow/exclusive.ts';
import { isFault } from '../../../model/fault.ts';
import type { Sandbox } from '../model.ts';
import { type Action, plan, type SandboxStep } from './plan.ts';
import type { ReconcileParts, Reconciler, SandboxRow } from './reconcile.ts';
import { FailedStart, isGivenUp, type StepParts, takeStep } from './step.ts';
import { Visits } from './visits.ts';

/** More turns than any sandbox needs, in case two writers keep undoing each other's changes. */
const maxTurns = 50;

/** Steps that only record what was observed. */
const recordings: readonly Action[] = ['adopt', 'note', 'conclude'];

export function createReconciler(parts: ReconcileParts): Reconciler {
  return new TurnReconciler(parts);
}

class TurnReconciler implements Reconciler {
  readonly #parts: StepParts;
  readonly #exclusive = new Exclusive();
  readonly #busy = new Set<string>();
  readonly #consoles = new Set<string>();
  readonly #holds = new Map<string, number>();
  readonly #visits: Visits;
  /** Sandboxes for which this instance has taken a turn. */
  readonly #seen = new Set<string>();

  constructor(parts: ReconcileParts) {
    this.#parts = { ...parts, wantsConsole: (id) => this.#consoles.has(id) };
    this.#visits = new Visits(this.#parts);
  }

  wantConsole(id: string): void {
    this.#consoles.add(id);
  }

  hold(id: string): () => Promise<void> {
    this.#holds.set(id, (this.#holds.get(id) ?? 0) + 1);
    let released = false;
    return async () => {
      if (released) return;
      released = true;
      const left = (this.#holds.get(id) ?? 1) - 1;
      if (left > 0) this.#holds.set(id, left);
      else this.#holds.delete(id);
      await this.settle(id);
    };
  }

  settle(id: string, first = () => {}): Promise<void> {
    return this.#turns(id, () => false, first);
  }

  launch<T>(id: string, first: () => T): Promise<T> {
    return this.#turns(id, () => this.#parts.store.get('sandbox', id)?.value.status.state !== 'pending', first);
  }

  #turns<T>(id: string, enough: () => boolean, first: () => T): Promise<T> {
    return this.#exclusive.run(id, async () => {
      const result = first();
      this.#busy.add(id);
      try {
        for (let turns = 0; turns < maxTurns && (await this.turn(id)) !== null && !enough(); turns += 1);
        return result;
      } finally {
        this.#busy.delete(id);
        this.#consoles.delete(id);
      }
    });
  }

  alone<T>(id: string, task: () => Promise<T>): Promise<T> {
    return this.#exclusive.run(id, task);
  }

  async hurry({ id, value }: SandboxRow, graceMs: number): Promise<void> {
    if (this.#busy.has(id) && value.status.handle !== null)
      await this.#parts.engineOf(value).stop(id, value.status.handle, graceMs);
  }

  idle(): Promise<void> {
    return this.#exclusive.idle();
  }

  async refresh(row: SandboxRow): Promise<void> {
    if (this.#busy.has(row.id) && this.#seen.has(row.id)) return;
    const step = await this.#decide(row);
    if (step === null) return;
    if (recordings.includes(step.action)) await this.#exclusive.run(row.id, () => this.turn(row.id));
    else void this.settle(row.id).catch(() => {});
  }

  async turn(id: string): Promise<SandboxStep | null> {
    const row = this.#parts.store.get('sandbox', id);
    const step = row && (await this.#decide(row));
    if (!row || !step) {
      this.#seen.add(id);
      return null;
    }
    try {
      await takeStep(this.#parts, row, step);
    } catch (error) {
      if (error instanceof FailedStart) throw error.fault;
      // Another writer changed the record first; the next turn reads it.
      if (!isFault(error, 'conflict') && !isFault(error, 'not_found')) throw error;
    } finally {
      this.#seen.add(id);
    }
    crashPoint(`after:${step.action}`);
    return step;
  }

  async #decide(row: SandboxRow): Promise<SandboxStep | null> {
    return plan(row.value, await this.#observe(row), this.#holds.has(row.id));
  }

  /**
   * A sandbox that is removed before its launch counts as absent while its engine cannot be reached. If the engine does
   * hold it, it is an orphan there.
   */
  async #observe({ id, value }: SandboxRow): Promise<Observed> {
    try {
      return await this.#parts.engineOf(value).inspect(id, value.status.handle);
    } catch (error) {
      if (isFault(error, 'unavailable') && isGivenUp(value)) return { kind: 'absent' };
      throw error;
    }
  }

  visit<T>(sandbox: Sandbox, task: (id: string, handle: Handle) => Promise<T>): Promise<T> {
    return this.#visits.run(sandbox, task);
  }

  isVisit(id: string): boolean {
    return this.#visits.has(id);
  }
}
