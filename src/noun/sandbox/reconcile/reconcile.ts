/**
 * The reconciler makes each sandbox what its spec asks for.
 *
 * A turn reads the record of one sandbox, inspects the sandbox in its engine, lets `plan` name one step, takes that step
 * and saves the new status. Turns repeat until `plan` names no step; then the sandbox is settled. The loop wakes sandboxes
 * that an engine reports as changed, and all of them now and then.
 *
 * Promises:
 * - Nothing is remembered between turns. A turn can be cut off at any instant: the next one, in this daemon or in a later
 *   one, continues from the store and the engine.
 * - There is one turn at a time for a sandbox. `alone` runs other work under the same lock.
 * - Only the reconciler writes status. When another writer changed the record meanwhile, the write is refused and the next
 *   turn reads the record again.
 * - A record is written before the engine acts, and removed after the engine holds nothing of the sandbox. So what an
 *   engine holds without a record is an orphan, and is removed.
 * - A start that fails is recorded with its reason before its Fault is thrown.
 */
import type { EngineOf, Handle, LogLine } from '../../../kernel/engine/engine.ts';
import type { Places } from '../../../kernel/home/places.ts';
import type { Row, Store } from '../../../kernel/store/store.ts';
import type { ProcessRef } from '../../../lib/process/process.ts';
import type { Limits } from '../../../model/limits.ts';
import type { Sandbox } from '../model.ts';
import type { SandboxStep } from './plan.ts';

export type SandboxRow = Row<'sandbox'>;

export interface ReconcileParts {
  readonly store: Store;
  readonly engineOf: EngineOf;
  readonly places: Places;
  readonly data: SandboxData;
  readonly now: () => string;
}

/** What the parts of sandboxes do (`sandbox/part/part.ts`). Each call is idempotent. */
export interface SandboxData {
  /** Called before each start. Returns the limits that parts of the sandbox enforce. */
  prepare(sandbox: Sandbox): Promise<readonly (keyof Limits)[]>;
  /** Called when the namespaces exist, before the command begins. */
  connect(sandbox: Sandbox, init: () => ProcessRef): Promise<void>;
  /** Called when the processes have ended. True: the sandbox is kept in spite of `autoRemove`. */
  conclude(sandbox: Sandbox): Promise<boolean>;
  /** Called before a start: saves the output of the last start, which the engine is about to drop. */
  keepOutput(sandbox: Sandbox, lines: AsyncIterable<LogLine>): Promise<void>;
  /** Removes all data of the sandbox. */
  release(sandbox: Sandbox): Promise<void>;
}

export interface Reconciler {
  /**
   * Takes turns until no step is left. Throws the Fault of a failed step; that of a start is recorded first. `first` is
   * called before the first turn, under the lock of the sandbox.
   */
  settle(id: string, first?: () => void): Promise<void>;
  /**
   * Records a sandbox by `first`, then takes turns until it is known whether the sandbox runs. The caller settles it
   * later. `first` is called under the lock of the sandbox; `launch` returns its result.
   */
  launch<T>(id: string, first: () => T): Promise<T>;
  /** One turn: the step that was taken, or null when there is none. */
  turn(id: string): Promise<SandboxStep | null>;
  /**
   * For readers: records an observed change at once, and starts longer steps without waiting for them. Until this
   * instance has taken a turn, the record only has what an earlier daemon observed.
   */
  refresh(row: SandboxRow): Promise<void>;
  /**
   * Shortens the grace time of a sandbox that is being stopped. If other work holds the lock of the sandbox, and may
   * have paused it, this does nothing: the next turn stops the sandbox as its spec says then.
   */
  hurry(row: SandboxRow, graceMs: number): Promise<void>;

  /** Runs a task about a sandbox while no turn of it can run. */
  alone<T>(id: string, task: () => Promise<T>): Promise<T>;
  /** The next start of this sandbox keeps a console for a client that attaches right after. */
  wantConsole(id: string): void;
  /** Until the caller calls the returned function, an ended sandbox with autoRemove is not removed. */
  hold(id: string): () => Promise<void>;

  /**
   * Runs a task in a visit: a second sandbox with the mounts and environment of a sandbox that does not run, without
   * its secrets. A visit has no record, so a crash leaves it as an orphan. The caller holds the lock of the sandbox by
   * `alone`.
   */
  visit<T>(sandbox: Sandbox, task: (id: string, handle: Handle) => Promise<T>): Promise<T>;
  isVisit(id: string): boolean;

  /** Settles when no turn is under way. */
  idle(): Promise<void>;
}
