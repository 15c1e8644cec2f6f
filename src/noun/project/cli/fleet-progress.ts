/** The progress of a plan: which steps are done, which failed, and which wait for a failed one. */

import { Fault, isFault } from '../../../model/fault.ts';
import type { FleetStep } from '../api/fleet.ts';

export class FleetProgress {
  readonly #steps: readonly FleetStep[];
  readonly #done = new Set<FleetStep>();
  readonly #failures = new Map<FleetStep, Fault>();
  /** Steps that became unnecessary meanwhile. */
  readonly #dropped = new Set<FleetStep>();

  constructor(steps: readonly FleetStep[]) {
    this.#steps = steps;
  }

  get done(): FleetStep[] {
    return this.#steps.filter((step) => this.#done.has(step));
  }

  /** Steps that failed, wait for a failed one, or were not reached. */
  get left(): FleetStep[] {
    return this.#steps.filter((step) => !this.#done.has(step) && !this.#dropped.has(step));
  }

  get failures(): [FleetStep, Fault][] {
    return [...this.#failures];
  }

  /**
   * `work` resolves to whether the step was taken. `cancelled` is thrown at once; other Faults are kept for the end.
   */
  async record(step: FleetStep, work: Promise<boolean>): Promise<void> {
    try {
      const taken = await work;
      (taken ? this.#done : this.#dropped).add(step);
    } catch (error) {
      if (!isFault(error) || error.code === 'cancelled') throw error;
      this.fail(step, error);
    }
  }

  fail(step: FleetStep, fault: Fault): void {
    this.#done.delete(step);
    this.#failures.set(step, fault);
  }

  waitsForFailed(step: FleetStep): boolean {
    return this.failures.some(([failed]) => needs(step, failed));
  }

  /** One Fault for all failures; null: no step failed. */
  failure(): Fault | null {
    const faults = [...this.#failures.values()];
    if (faults.length < 2) return faults[0] ?? null;
    const hints = [...new Set(faults.flatMap(({ hint }) => hint ?? []))];
    return new Fault(faults[0]!.code, faults.map(({ message }) => message).join('\n'), {
      ...(hints.length === 0 ? {} : { hint: hints.join('\n') }),
      data: { failed: faults.map(({ code, message }) => ({ code, message })) },
    });
  }
}

/**
 * A sandbox needs the volumes and rooms that it mounts, and its own earlier steps; a watcher needs its room and
 * sandbox.
 */
function needs(step: FleetStep, failed: FleetStep): boolean {
  if (isMaking(step)) return false;
  if (!isMaking(failed)) return failed.name === step.name;
  if (step.act === 'watch') return failed.act === 'init-rooms' && failed.rooms.includes(step.room);
  const { volumes = [], rooms = [] } = 'request' in step ? step.request : {};
  if (failed.act === 'init-rooms') return rooms.some(({ room }) => failed.rooms.includes(room));
  return volumes.some(({ volume }) => failed.volumes.includes(volume));
}

type Making = Extract<FleetStep, { act: 'init-volumes' | 'init-rooms' }>;

function isMaking(step: FleetStep): step is Making {
  return step.act === 'init-volumes' || step.act === 'init-rooms';
}
