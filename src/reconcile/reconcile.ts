/**
 * Brings what is so and what was asked for together, one sandbox at a time: read the record, look at the engine, let
 * `plan` decide, do that one step, save, and begin again. All knowledge is in the store and the engine, so it may be cut
 * off anywhere and go on from there.
 */
import { createHash } from 'node:crypto';
import type { EngineOf, Exit, Launch, LogLine, Observed, Started, Trouble } from '../engine/engine.ts';
import { composeLaunch, type Places } from '../launch/launch.ts';
import { crashPoint } from '../lib/crash-point.ts';
import { Exclusive } from '../lib/exclusive.ts';
import type { ProcessRef } from '../lib/process.ts';
import { asFault, isFault } from '../model/fault.ts';
import type { Limits } from '../model/limits.ts';
import { initialStatus, type Sandbox, type SandboxStatus, withSpec, withStatus } from '../model/sandbox.ts';
import type { Row, Store, WriteOptions } from '../store/store.ts';
import { type Action, plan, type Step } from './plan.ts';

type SandboxRow = Row<'sandbox'>;
type StepOf<A extends Action> = Extract<Step, { action: A }>;

export interface ReconcileParts {
  readonly store: Store;
  readonly engineOf: EngineOf;
  readonly places: Places;
  readonly data: SandboxData;
  readonly now: () => string;
}

/** What sandboxes keep on the host, in the care of other parts. Each act is repeat-safe. */
export interface SandboxData {
  /** Before each start: its disk, its base, its working copy. Returns the limits that these enforce. */
  provide(sandbox: Sandbox): Promise<readonly (keyof Limits)[]>;
  /** When its namespaces are there, before its command begins: its network. */
  connect(sandbox: Sandbox, init: () => ProcessRef): Promise<void>;
  /** When its processes have ended; true when it holds changes that nobody has taken over. */
  conclude(sandbox: Sandbox): Promise<boolean>;
  /** Before a start: what it wrote in the last one, which the engine is about to drop. */
  keepOutput(sandbox: Sandbox, lines: AsyncIterable<LogLine>): Promise<void>;
  /** Everything of it goes. */
  release(sandbox: Sandbox): Promise<void>;
}

/** More turns than any sandbox needs; past it two writers are fighting. */
const maxTurns = 50;

/** Steps that only write down what is so. */
const records: readonly Action[] = ['adopt', 'note', 'conclude'];

export class Reconciler {
  readonly #parts: ReconcileParts;
  readonly #exclusive = new Exclusive();
  readonly #busy = new Set<string>();
  /** Sandboxes whose next start is to hold a console. */
  readonly #consoles = new Set<string>();
  readonly #holds = new Map<string, number>();
  readonly #visits = new Set<string>();
  /** Sandboxes that this instance has looked at. */
  readonly #seen = new Set<string>();

  constructor(parts: ReconcileParts) {
    this.#parts = parts;
  }

  /** The next start of this sandbox holds a console for a client that attaches right after. */
  wantConsole(id: string): void {
    this.#consoles.add(id);
  }

  /** Until the returned function is called, the sandbox does not remove itself when it ends. */
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

  /** Turns until there is nothing left to do. Throws the Fault of a step that failed, after recording it. */
  settle(id: string): Promise<void> {
    return this.#turns(id, () => false);
  }

  /** Turns until it is known whether the sandbox runs; the caller sees to the rest. */
  launch(id: string): Promise<void> {
    return this.#turns(id, () => this.#parts.store.get('sandbox', id)?.value.status.state !== 'pending');
  }

  #turns(id: string, enough: () => boolean): Promise<void> {
    return this.#exclusive.run(id, async () => {
      this.#busy.add(id);
      try {
        for (let turns = 0; turns < maxTurns && (await this.turn(id)) !== null && !enough(); turns += 1);
      } finally {
        this.#busy.delete(id);
        this.#consoles.delete(id);
      }
    });
  }

  /** Does something about a sandbox that no turn may come between. */
  alone<T>(id: string, task: () => Promise<T>): Promise<T> {
    return this.#exclusive.run(id, task);
  }

  /**
   * Stops what is being stopped more quickly. While something else is done about the sandbox, which may hold it still for
   * that, nothing is hurried: the turn that comes next stops it as it was last asked to.
   */
  async hurry({ id, value }: SandboxRow, graceMs: number): Promise<void> {
    if (this.#busy.has(id) && value.status.handle !== null)
      await this.#parts.engineOf(value).stop(id, value.status.handle, graceMs);
  }

  /** Settles when no turn is under way. */
  idle(): Promise<void> {
    return this.#exclusive.idle();
  }

  /**
   * For readers: what has changed is recorded; what takes longer goes on without them. While nobody here has looked at it,
   * the record tells only what an earlier daemon saw.
   */
  async refresh(row: SandboxRow): Promise<void> {
    if (this.#busy.has(row.id) && this.#seen.has(row.id)) return;
    const step = await this.#decide(row);
    if (step === null) return;
    if (records.includes(step.action)) await this.#exclusive.run(row.id, () => this.turn(row.id));
    else void this.settle(row.id).catch(() => {});
  }

  /** One step, or null when there is nothing to do. */
  async turn(id: string): Promise<Step | null> {
    const row = this.#parts.store.get('sandbox', id);
    const step = row && (await this.#decide(row));
    if (!row || !step) {
      this.#seen.add(id);
      return null;
    }
    try {
      await this.#act(row, step);
    } catch (error) {
      // Somebody wrote first; the next turn reads what they wrote.
      if (!isFault(error, 'conflict') && !isFault(error, 'not_found')) throw error;
    } finally {
      this.#seen.add(id);
    }
    crashPoint(`after:${step.action}`);
    return step;
  }

  async #decide(row: SandboxRow): Promise<Step | null> {
    const observed = await this.#observe(row);
    return plan(row.value, observed, this.#holds.has(row.id));
  }

  /** What never came to be on an engine that cannot be reached now is not there; should it be, it is an orphan. */
  async #observe({ id, value }: SandboxRow): Promise<Observed> {
    try {
      return await this.#parts.engineOf(value).inspect(id, value.status.handle);
    } catch (error) {
      if (isFault(error, 'unavailable') && isGivenUp(value)) return { kind: 'absent' };
      throw error;
    }
  }

  #act(row: SandboxRow, step: Step): Promise<void> {
    const actions: { [A in Action]: (row: SandboxRow, step: StepOf<A>) => Promise<void> } = {
      renew: (row) => this.#renew(row),
      start: (row) => this.#start(row),
      adopt: async (row, { started }) => this.#recordStart(row, started),
      note: async (row, { trouble }) => this.#note(row, trouble),
      stop: async ({ id, value }) => this.#parts.engineOf(value).stop(id, value.status.handle, value.spec.graceMs),
      conclude: (row, { state, reason, exit }) => this.#conclude(row, { state, reason }, exit),
      clear: (row) => this.#clear(row),
      forget: (row) => this.#forget(row),
    };
    return (actions[step.action] as (row: SandboxRow, step: Step) => Promise<void>)(row, step);
  }

  async #clear(row: SandboxRow): Promise<void> {
    if (row.value.spec.attempt > row.value.status.attempt) await this.#keepOutput(row);
    crashPoint('clear:kept');
    await this.#parts.engineOf(row.value).remove(row.id, row.value.status.handle);
  }

  async #keepOutput({ id, value }: SandboxRow): Promise<void> {
    const { engineOf, data } = this.#parts;
    await data.keepOutput(value, engineOf(value).logs(id, { follow: false, tail: null }));
  }

  async #renew(row: SandboxRow): Promise<void> {
    // What was lost may have left a log, which the next start would remove.
    await this.#keepOutput(row);
    // Follows from what was asked for, so it need not survive a power cut.
    const status = { ...initialStatus, attempt: row.value.spec.attempt };
    this.#save(row, status, 'sandbox.renewed', { lazy: true });
  }

  async #start(row: SandboxRow): Promise<void> {
    const started = await this.#launched(row).catch((error: unknown) => {
      const fault = asFault(error);
      this.#recordEnd(row, { state: 'failed', reason: fault.message }, null);
      throw fault;
    });
    crashPoint('start:started');
    this.#recordStart(row, started);
  }

  async #launched(row: SandboxRow): Promise<Started> {
    const launch = await this.#compose(row.value);
    crashPoint('start:prepared');
    return this.#parts.engineOf(row.value).start(launch, (init) => this.#parts.data.connect(row.value, init));
  }

  async #compose(sandbox: Sandbox): Promise<Launch> {
    const { store, places, data } = this.#parts;
    const held = await data.provide(sandbox);
    const slot = store.find('user', '', sandbox.spec.user)?.value.slot ?? 0;
    return composeLaunch(sandbox, { slot, console: this.#consoles.has(sandbox.id), held }, places);
  }

  /**
   * Runs something of ours in the surroundings of a sandbox that does not run. It has no record: what a crash leaves of it
   * is an orphan. It needs none of the sandbox's secrets.
   */
  async visit<T>(sandbox: Sandbox, task: (id: string, handle: unknown) => Promise<T>): Promise<T> {
    const engine = this.#parts.engineOf(sandbox);
    const id = visitId(sandbox.id);
    this.#visits.add(id);
    try {
      // One that a crash left has other surroundings.
      await engine.remove(id, null);
      const launch = await this.#compose(withSpec(sandbox, { secrets: [], credentials: [], services: [] }));
      const idle = { command: [], demanded: [], stdin: false, terminal: null, console: false };
      const { handle } = await engine.start({ ...launch, id, ...idle });
      return await task(id, handle);
    } finally {
      await engine.remove(id, null).finally(() => this.#visits.delete(id));
    }
  }

  isVisit(id: string): boolean {
    return this.#visits.has(id);
  }

  /** Recorded first, so that nobody waits for the tidying up; what a crash leaves of it, the next loop finds. */
  async #conclude(row: SandboxRow, end: Pick<SandboxStatus, 'state' | 'reason'>, exit: Exit | null): Promise<void> {
    const kept = await this.#parts.data.conclude(row.value);
    this.#recordEnd(row, { ...end, kept }, exit);
    crashPoint('conclude:recorded');
    // What is to go is taken out of the engine next.
    if (exit && row.value.spec.desired !== 'removed')
      await this.#parts.engineOf(row.value).stop(row.id, row.value.status.handle, 0);
  }

  #recordStart(row: SandboxRow, started: Started): void {
    const status: SandboxStatus = {
      ...row.value.status,
      state: 'running',
      handle: started.handle,
      runtime: started.runtime,
      advisory: started.advisory,
      startedAt: this.#parts.now(),
    };
    this.#save(row, status, 'sandbox.started');
  }

  #note(row: SandboxRow, trouble: Trouble | null): void {
    const type = trouble === null ? 'sandbox.recovered' : `sandbox.${trouble.replace(' ', '_')}`;
    this.#save(row, { ...row.value.status, reason: trouble }, type);
  }

  #recordEnd(row: SandboxRow, end: Partial<SandboxStatus> & Pick<SandboxStatus, 'state'>, exit: Exit | null): void {
    const { exitCode = null, signal = null } = exit ?? {};
    this.#save(
      row,
      { ...row.value.status, ...end, exitCode, signal, finishedAt: this.#parts.now() },
      `sandbox.${end.state}`,
      // What is to go need not be known to have ended.
      { lazy: row.value.spec.desired === 'removed' },
    );
  }

  #save(row: SandboxRow, status: SandboxStatus, type: string, options: WriteOptions = {}): void {
    const { store, now } = this.#parts;
    const { state, reason, exitCode } = status;
    const event = {
      at: now(),
      type,
      subject: row.id,
      data: { name: row.name, user: row.owner, state, reason, exitCode },
    };
    store.update(row, withStatus(row.value, status), event, options);
  }

  async #forget(row: SandboxRow): Promise<void> {
    const { store, data, now } = this.#parts;
    await this.#takeOut(row).catch((error: unknown) => {
      if (!isFault(error, 'unavailable') || !isGivenUp(row.value)) throw error;
    });
    await data.release(row.value);
    crashPoint('forget:folder');
    const gone = { at: now(), type: 'sandbox.removed', subject: row.id, data: { name: row.name, user: row.owner } };
    // That it is to go is on disk since it was asked for: a power cut only has it forgotten once more.
    store.remove(row, gone, { lazy: true });
  }

  /** What was lost may have left something in the engine although it is absent, and so may a visit that a crash cut short. */
  async #takeOut({ id, value }: SandboxRow): Promise<void> {
    const engine = this.#parts.engineOf(value);
    await engine.remove(id, value.status.handle);
    const visit = visitId(id);
    if ((await engine.list()).includes(visit)) await engine.remove(visit, null);
  }
}

/** An id like any other, so that an engine lists it, and known to whoever comes after a crash. */
function visitId(id: string): string {
  return createHash('sha256').update(`visit ${id}`).digest('hex').slice(0, 16);
}

/** Never launched, and nobody wants it. */
function isGivenUp({ spec, status }: Sandbox): boolean {
  return status.handle === null && spec.desired === 'removed';
}
