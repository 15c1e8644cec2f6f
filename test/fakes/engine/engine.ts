/**
 * An engine in memory that keeps every promise of `engine.ts` and fails on demand. It runs the programs of
 * `program.ts`. Its sandboxes outlive the instance, as real sandboxes outlive the daemon: `reopen` makes another
 * instance over them. A test can end a sandbox, remove or pause it from outside, and leave it as a crash would have.
 */

import type {
  Console,
  Engine,
  ExecSpec,
  Exit,
  Handle,
  Launch,
  LogOptions,
  Observed,
  OnCreated,
  Started,
} from '../../../src/kernel/engine/engine.ts';
import type { ProcessRef } from '../../../src/lib/process/process.ts';
import { Fault } from '../../../src/model/fault.ts';
import { type Limits, optionsOf } from '../../../src/model/limits.ts';
import { exitOf, type Programs } from './process.ts';
import { programs } from './program.ts';
import { FakeSandbox, type Phase } from './sandbox.ts';

export type FakeMethod = Exclude<keyof Engine, 'name' | 'onChange' | 'dispose'>;

/**
 * When a fault is thrown: before the effect of the call, or after it. `created` is for `start` only: the sandbox is
 * created, and its command has not begun.
 */
export type FaultPoint = 'before' | 'created' | 'after';

export interface FakeEngine extends Engine {
  readonly faults: {
    /** The next call of the method fails. Several faults are queued. */
    failNext(method: FakeMethod, fault: Fault, point?: FaultPoint): void;
  };
  /** Every launch whose command has begun, in order. */
  readonly begun: readonly Launch[];
  /** The sandbox ends by itself. */
  end(id: string, exit: Partial<Exit>): void;
  /** The sandbox is gone without a change being reported, as if removed from outside. */
  vanish(id: string): void;
  /** Pauses the sandbox from outside. */
  freeze(id: string): void;
  /** Adds a sandbox in the state in which a crash would have left it. */
  leave(launch: Launch, phase: Phase): void;
  /** Another instance over the same sandboxes, with its own consoles, listeners and queued faults. */
  reopen(): FakeEngine;
}

export interface FakeOptions {
  /** Commands besides those of `program.ts`. */
  readonly programs?: Programs;
  readonly runtimes?: readonly [string, ...string[]];
  /** Limits this machine cannot enforce. */
  readonly advisory?: readonly (keyof Limits)[];
}

export function createFakeEngine(options: FakeOptions = {}): FakeEngine {
  return new MemoryEngine(new World(options));
}

/** The sandboxes, which all instances share. */
class World {
  readonly sandboxes = new Map<string, FakeSandbox>();
  readonly engines = new Set<MemoryEngine>();
  readonly begun: Launch[] = [];
  readonly advisory: readonly (keyof Limits)[];
  readonly #programs: Programs;
  readonly #runtimes: readonly [string, ...string[]];
  #serial = 0;

  constructor(options: FakeOptions) {
    this.advisory = options.advisory ?? ['diskBytes'];
    this.#programs = { ...programs, ...options.programs };
    this.#runtimes = options.runtimes ?? ['crun', 'runc'];
  }

  create(launch: Launch): FakeSandbox {
    const runtime = this.#runtimeFor(launch);
    this.#checkLimits(launch);
    this.#serial += 1;
    const started = { handle: { serial: this.#serial }, runtime, advisory: this.advisory };
    const changed = () => this.#hint(launch.id, sandbox);
    const sandbox: FakeSandbox = new FakeSandbox(launch, started, this.#programs, changed);
    this.sandboxes.set(launch.id, sandbox);
    return sandbox;
  }

  begin(sandbox: FakeSandbox): void {
    this.begun.push(sandbox.launch);
    sandbox.begin();
  }

  /** Reports a change, unless the sandbox is gone. */
  #hint(id: string, sandbox: FakeSandbox): void {
    if (this.sandboxes.get(id) === sandbox) for (const engine of this.engines) engine.hint(id);
  }

  #runtimeFor({ runtime }: Launch): string {
    const chosen = runtime ?? this.#runtimes[0];
    if (this.#runtimes.includes(chosen)) return chosen;
    throw new Fault('unsupported', `${chosen} is not installed`, { hint: `Use ${this.#runtimes.join(' or ')}.` });
  }

  #checkLimits({ demanded }: Launch): void {
    const refused = demanded.filter((key) => this.advisory.includes(key));
    if (refused.length > 0) throw new Fault('unsupported', `cannot enforce ${optionsOf(refused)}`);
  }
}

class MemoryEngine implements FakeEngine {
  readonly name = 'local';
  readonly faults = { failNext: this.#failNext.bind(this) };
  readonly #world: World;
  readonly #listeners = new Set<(id: string) => void>();
  readonly #held = new Map<string, Console>();
  readonly #failures: { method: FakeMethod; fault: Fault; point: FaultPoint }[] = [];

  constructor(world: World) {
    this.#world = world;
    world.engines.add(this);
  }

  get begun(): readonly Launch[] {
    return this.#world.begun;
  }

  async probe() {
    return this.#do('probe', () => [{ name: 'fake', level: 'ok' as const, detail: 'in memory', hint: null }]);
  }

  expect(): void {}

  async start(launch: Launch, onCreated?: OnCreated): Promise<Started> {
    return this.#do('start', async () => {
      const sandbox = this.#world.sandboxes.get(launch.id) ?? this.#world.create(launch);
      this.#failAt('start', 'created');
      if (sandbox.phase === 'created') {
        await onCreated?.(() => processOf(sandbox)).catch((error: unknown) => {
          this.vanish(launch.id);
          throw error;
        });
        if (launch.console) this.#held.set(launch.id, sandbox.attach());
        this.#world.begin(sandbox);
      }
      return sandbox.started;
    });
  }

  async inspect(id: string, handle: Handle): Promise<Observed> {
    return this.#do('inspect', (): Observed => {
      const sandbox = this.#found(id);
      if (!sandbox) return { kind: 'absent' };
      if (sandbox.phase === 'exited') return { kind: 'exited', exit: sandbox.exit };
      if (!isHandleOf(sandbox, handle)) return { kind: 'absent' };
      if (sandbox.pausedBy === this) return { kind: 'running', started: sandbox.started };
      return sandbox.phase === 'running' ? { kind: 'running', started: sandbox.started } : { kind: sandbox.phase };
    });
  }

  async list(): Promise<readonly string[]> {
    return this.#do('list', () => [...this.#world.sandboxes.keys()]);
  }

  async stop(id: string, _handle: Handle, graceMs: number): Promise<void> {
    return this.#do('stop', async () => {
      const sandbox = this.#found(id);
      if (sandbox?.pausedBy === this) sandbox.resume();
      if (sandbox?.phase === 'created') this.#world.sandboxes.delete(id);
      await sandbox?.stop(graceMs);
    });
  }

  async remove(id: string): Promise<void> {
    return this.#do('remove', () => {
      this.#release(id);
      this.vanish(id);
    });
  }

  async pause(id: string): Promise<void> {
    return this.#do('pause', () => {
      const sandbox = this.#found(id);
      if (sandbox?.pausedBy === this) return;
      if (sandbox?.phase !== 'running') throw new Fault('conflict', 'the sandbox is not running');
      sandbox.pause(this);
    });
  }

  async resume(id: string): Promise<void> {
    return this.#do('resume', () => this.#found(id)?.resume());
  }

  async exec(id: string, _handle: Handle, spec: ExecSpec) {
    return this.#do('exec', async () => {
      await this.#found(id)?.unpaused;
      return this.#running(id).exec(spec);
    });
  }

  async attach(id: string): Promise<Console> {
    return this.#do('attach', () => {
      const held = this.#held.get(id);
      this.#held.delete(id);
      return held ?? this.#running(id).attach();
    });
  }

  async *logs(id: string, options: LogOptions) {
    this.#failAt('logs', 'before');
    const log = this.#world.sandboxes.get(id)?.log;
    if (log) yield* log.read(options);
    this.#failAt('logs', 'after');
  }

  async stats(id: string) {
    return this.#do('stats', () => this.#running(id).stats);
  }

  async network(id: string) {
    return this.#do('network', () => processOf(this.#running(id)));
  }

  onChange(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async dispose(): Promise<void> {
    this.#world.engines.delete(this);
    this.#listeners.clear();
    for (const id of this.#held.keys()) this.#release(id);
    for (const sandbox of this.#world.sandboxes.values()) if (sandbox.pausedBy === this) sandbox.resume();
  }

  hint(id: string): void {
    for (const listener of this.#listeners) listener(id);
  }

  end(id: string, exit: Partial<Exit>): void {
    this.#known(id).finish({ ...exitOf(0), ...exit });
  }

  vanish(id: string): void {
    const sandbox = this.#world.sandboxes.get(id);
    this.#world.sandboxes.delete(id);
    sandbox?.finish(exitOf('SIGKILL'));
  }

  freeze(id: string): void {
    this.#known(id).pause(null);
  }

  leave(launch: Launch, phase: Phase): void {
    const sandbox = this.#world.create(launch);
    if (phase !== 'created') this.#world.begin(sandbox);
    if (phase === 'paused') sandbox.pause(null);
    if (phase === 'exited') sandbox.finish(exitOf(0));
  }

  reopen(): FakeEngine {
    return new MemoryEngine(this.#world);
  }

  #failNext(method: FakeMethod, fault: Fault, point: FaultPoint = 'before'): void {
    this.#failures.push({ method, fault, point });
  }

  async #do<T>(method: FakeMethod, work: () => T | Promise<T>): Promise<T> {
    this.#failAt(method, 'before');
    const result = await work();
    this.#failAt(method, 'after');
    return result;
  }

  #failAt(method: FakeMethod, point: FaultPoint): void {
    const index = this.#failures.findIndex((failure) => failure.method === method);
    if (this.#failures[index]?.point === point) throw this.#failures.splice(index, 1)[0]!.fault;
  }

  #release(id: string): void {
    this.#held.get(id)?.detach();
    this.#held.delete(id);
  }

  #known(id: string): FakeSandbox {
    const sandbox = this.#world.sandboxes.get(id);
    if (!sandbox) throw new Error(`the fake engine holds no sandbox ${id}`);
    return sandbox;
  }

  /** The sandbox. If another instance has paused it, the pause ends. */
  #found(id: string): FakeSandbox | undefined {
    const sandbox = this.#world.sandboxes.get(id);
    if (sandbox?.pausedBy && sandbox.pausedBy !== this) sandbox.resume();
    return sandbox;
  }

  #running(id: string): FakeSandbox {
    const sandbox = this.#found(id);
    if (sandbox?.phase === 'running' || sandbox?.pausedBy === this) return sandbox;
    throw new Fault('not_ready', 'the sandbox is not running');
  }
}

/** A pid that no process of this machine can have. */
function processOf({ started }: FakeSandbox): ProcessRef {
  return { pid: 2 ** 30 + (started.handle as { serial: number }).serial, startTicks: 1, bootId: 'fake' };
}

/** The handle of an earlier start under the same id does not find the running sandbox. */
function isHandleOf(sandbox: FakeSandbox, handle: Handle): boolean {
  const { serial } = sandbox.started.handle as { serial: number };
  return handle === null || (handle as { serial?: unknown }).serial === serial;
}
