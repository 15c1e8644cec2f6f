/**
 * The embedded engine: an OCI runtime under conmon, with the host's /usr as root filesystem. It needs no image, no
 * account and no service but the daemon. All state of a sandbox is in `run/<id>` and in the kernel.
 */
import { existsSync, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { isAlive, type ProcessRef } from '../../../lib/process/process.ts';
import { Fault } from '../../../model/fault.ts';
import { idPattern } from '../../../model/name.ts';
import type {
  Console,
  Engine,
  EngineAbout,
  ExecSpec,
  Handle,
  Launch,
  LogLine,
  LogOptions,
  Observed,
  OnCreated,
  Process,
  Started,
  Stats,
} from '../engine.ts';
import { sandboxNotRunning } from '../exit.ts';
import { countingKills, watchMemoryKills } from '../memory-kills.ts';
import { PendingConsoles } from '../pending-consoles.ts';
import { expectMove, groupIds, readStats, removeParent } from './cgroup.ts';
import { attachConsole } from './console.ts';
import { type LocalContext, type LocalOptions, openContext, readNote, runtimeArgs } from './context.ts';
import { freeEnded, removeEverything, stopProcesses } from './end.ts';
import { execInside } from './exec.ts';
import { type LocalHandle, readHandle } from './handle.ts';
import { readLog } from './log/log-file.ts';
import { currentHandle, observe, readExit, startedOf } from './observe.ts';
import { LocalPauses } from './pause/pause.ts';
import { aboutLocal, probe } from './probe/probe.ts';
import { processStats } from './process-stats.ts';
import { RunningSandboxes } from './running-sandboxes.ts';
import { dropRootFolder, keepRootFolder, openStage } from './stage/stage.ts';
import { begin, create, waitForCommand } from './start.ts';

export type LocalEngineView = Engine & { about(): Promise<EngineAbout> };

export function openLocalEngine(options: LocalOptions): LocalEngineView {
  if (options.makesSandboxes !== false) openStage();
  return new LocalEngine(openContext(options));
}

class LocalEngine implements LocalEngineView {
  readonly name = 'local';
  readonly #context: LocalContext;
  readonly #listeners = new Set<(id: string) => void>();
  readonly #pendingConsoles = new PendingConsoles();
  readonly #pauses: LocalPauses;
  readonly #running: RunningSandboxes;
  readonly #exits: ReturnType<typeof watch>;
  /** How many runtimes may be making a control group. */
  #creating = 0;

  constructor(context: LocalContext) {
    this.#context = context;
    this.#pauses = new LocalPauses(context);
    this.#running = new RunningSandboxes(context);
    this.#exits = watch(context.layout.exits, (_, file) => this.#noticed(file));
    // A daemon that was killed may have left an empty parent.
    removeParent(context.cgroups);
  }

  #noticed(file: string | null): void {
    if (file !== null && idPattern.test(file)) for (const listener of this.#listeners) listener(file);
  }

  probe() {
    return probe(this.#context);
  }

  about() {
    return aboutLocal(this.#context);
  }

  expect(): void {
    expectMove(this.#context.cgroups);
  }

  async start(launch: Launch, onCreated?: OnCreated): Promise<Started> {
    const { id } = launch;
    if (!this.#context.makesSandboxes) throw noSandboxes();
    this.expect();
    let found = await this.inspect(id, null);
    if (found.kind === 'running') return found.started;
    if (found.kind === 'absent') {
      await removeEverything(this.#context, id);
      await this.#create(launch);
      crashPoint('start:created');
      found = { kind: 'created' };
    }
    const handle = currentHandle(this.#context, id);
    const note = readNote(this.#context, id);
    if (handle === null || note === null) throw new Fault('internal', 'a sandbox was created without its launch note');
    if (found.kind === 'created') {
      await this.#reportCreated(id, handle, onCreated);
      this.#connect(launch);
      await begin(this.#context, id, note);
      crashPoint('start:begun');
    }
    return startedOf(handle);
  }

  async #create(launch: Launch): Promise<void> {
    this.#creating += 1;
    try {
      await create(this.#context, launch);
    } catch (error) {
      await removeEverything(this.#context, launch.id);
      throw error;
    } finally {
      this.#creating -= 1;
      this.#dropParent();
    }
  }

  /** Removes the empty parent group, unless a runtime may be making a group in it. */
  #dropParent(): void {
    if (this.#creating === 0) removeParent(this.#context.cgroups);
  }

  /** Calls `onCreated`. If it fails, the sandbox is removed. */
  async #reportCreated(id: string, { init, runtime }: LocalHandle, onCreated: OnCreated | undefined): Promise<void> {
    try {
      await onCreated?.(() => {
        if (!sharesKernelNetwork(runtime)) throw noNetwork(runtime);
        return init;
      });
    } catch (error) {
      await removeEverything(this.#context, id);
      throw error;
    }
  }

  async network(id: string, handle: Handle): Promise<ProcessRef> {
    const found = await this.inspect(id, handle);
    if (found.kind !== 'running') throw sandboxNotRunning();
    const { init, runtime } = found.started.handle as LocalHandle;
    if (!sharesKernelNetwork(runtime)) throw noNetwork(runtime);
    return init;
  }

  /** A command without stdin reads end of file at once; conmon closes stdin when a client does. */
  #connect({ id, stdin, terminal, console: held }: Launch): void {
    const keepsInput = stdin || terminal !== null;
    if (keepsInput && !held) return;
    const console = attachConsole(this.#context.layout.run(id));
    if (held) this.#pendingConsoles.add(id, console);
    if (!keepsInput) console.stdin.end();
    if (!held) console.stdin.on('finish', () => console.detach());
  }

  async inspect(id: string, handle: Handle): Promise<Observed> {
    this.#pauses.endAbandoned(id, () => this.#init(id));
    const recorded = readHandle(handle);
    if (recorded && this.#running.has(id, recorded)) return { kind: 'running', started: startedOf(recorded) };
    const found = (await this.#justEnded(id, recorded)) ?? (await observe(this.#context, id, handle));
    if (found.kind !== 'paused' || this.#pauses.over(id) === null) return found;
    const known = recorded ?? currentHandle(this.#context, id);
    return known ? { kind: 'running', started: startedOf(known) } : found;
  }

  /**
   * Waits for the exit code after the first process has ended: the keeper records it within milliseconds, unless a
   * client reads slowly.
   */
  async #justEnded(id: string, handle: LocalHandle | null): Promise<Observed | null> {
    if (handle === null || isAlive(handle.init) || !isAlive(handle.keeper)) return null;
    await this.#exitedWithin(id, handle, keeperMs);
    const exit = readExit(this.#context, id);
    return exit && { kind: 'exited', exit };
  }

  #init(id: string): ProcessRef | null {
    return currentHandle(this.#context, id)?.init ?? null;
  }

  async pause(id: string, handle: Handle): Promise<void> {
    const found = await this.inspect(id, handle);
    if (found.kind !== 'running') throw new Fault('conflict', `the sandbox is not running but ${found.kind}`);
    await this.#pauses.begin(id, (found.started.handle as LocalHandle).init);
  }

  async resume(id: string): Promise<void> {
    await this.#pauses.end(id, this.#init(id));
  }

  async list(): Promise<readonly string[]> {
    const { layout, cgroups } = this.#context;
    const states = join(layout.folder, 'state');
    const inStates = readdirSync(states).flatMap((runtime) => readdirSync(join(states, runtime)));
    const names = [...readdirSync(layout.runs), ...readdirSync(layout.exits), ...inStates, ...groupIds(cgroups)];
    return [...new Set(names)].filter((name) => idPattern.test(name));
  }

  async stop(id: string, handle: Handle, graceMs: number): Promise<void> {
    const found = await this.inspect(id, handle);
    if (found.kind === 'absent') return;
    if (found.kind === 'exited') return this.#free(id, freeEnded);
    if (found.kind === 'created') return this.#free(id, removeEverything);
    // The keeper records the exit only after all output is read, and the client of this console may not read.
    this.#pendingConsoles.release(id);
    // A paused process does not handle signals; in version 1 of control groups not even SIGKILL.
    await this.resume(id);
    const current = found.kind === 'running' ? found.started.handle : currentHandle(this.#context, id);
    await waitForCommand((current as LocalHandle).init.pid);
    await stopProcesses(current as LocalHandle, graceMs, (withinMs) =>
      this.#exitedWithin(id, current as LocalHandle, withinMs),
    );
    await this.#free(id, freeEnded);
  }

  async #free(id: string, free: typeof freeEnded): Promise<void> {
    await free(this.#context, id);
    this.#dropParent();
  }

  /** Waits for the record of the keeper; without a keeper, for the end of the first process. */
  #exitedWithin(id: string, { init, keeper }: LocalHandle, withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (ended: boolean) => {
        clearTimeout(timer);
        clearInterval(looking);
        forget();
        resolve(ended);
      };
      const looking = setInterval(() => {
        if (!isAlive(keeper) && !isAlive(init)) settle(true);
      }, goneMs);
      const forget = this.onChange((changed) => {
        if (changed === id && readExit(this.#context, id)) settle(true);
      });
      const timer = setTimeout(() => settle(readExit(this.#context, id) !== null), withinMs);
      if (readExit(this.#context, id)) settle(true);
    });
  }

  async remove(id: string): Promise<void> {
    this.#pendingConsoles.release(id);
    await this.resume(id);
    await this.#free(id, removeEverything);
    this.#pauses.forget(id);
    this.#running.drop(id);
    dropRootFolder(id);
  }

  async exec(id: string, handle: Handle, spec: ExecSpec): Promise<Process> {
    this.expect();
    let found: Observed;
    do {
      await this.#pauses.over(id);
      found = await this.inspect(id, handle);
    } while (this.#pauses.over(id) !== null);
    const note = readNote(this.#context, id);
    if (found.kind !== 'running' || note === null) throw sandboxNotRunning();
    await waitForCommand((found.started.handle as LocalHandle).init.pid);
    keepRootFolder(id);
    const { keeperPath, layout } = this.#context;
    const { runtimePath, maxProcesses } = note;
    const tools = { keeperPath, runtimePath, maxProcesses, runtimeArgs: runtimeArgs(this.#context, note.runtime) };
    const kills = watchMemoryKills((found.started.handle as LocalHandle).init.pid);
    const process = await execInside(tools, id, layout.run(id), { ...spec, env: { ...note.env, ...spec.env } });
    return countingKills(process, kills);
  }

  async attach(id: string, handle: Handle): Promise<Console> {
    const pending = this.#pendingConsoles.take(id);
    if (pending) return pending;
    const found = await this.inspect(id, handle);
    if (found.kind !== 'running') throw sandboxNotRunning();
    if (found.trouble === 'keeper lost') throw keeperLost();
    return attachConsole(this.#context.layout.run(id));
  }

  logs(id: string, options: LogOptions): AsyncIterable<LogLine> {
    const bundle = this.#context.layout.run(id);
    if (!existsSync(bundle)) return none();
    const isOver = async () => (await this.inspect(id, null)).kind !== 'running';
    return readLog(bundle, this.#context.log.files, options, () => ({ isOver }));
  }

  async stats(id: string): Promise<Stats> {
    const counted = readStats(this.#context.cgroups, id);
    if (counted !== null) return counted;
    const handle = currentHandle(this.#context, id);
    if (handle === null) throw sandboxNotRunning();
    return processStats(handle.init);
  }

  onChange(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async dispose(): Promise<void> {
    this.#exits.close();
    this.#running.close();
    this.#context.logs.close();
    for (const id of this.#pauses.ids()) await this.resume(id);
    this.#pendingConsoles.releaseAll();
    removeParent(this.#context.cgroups);
  }
}

/** How long an inspection waits for the keeper to record an exit code. */
const keeperMs = 200;

/** The interval of checks for an end without an event. */
const goneMs = 20;

async function* none(): AsyncGenerator<LogLine> {}

/** A runtime with its own kernel has its own loopback, on which the proxy cannot listen. */
function sharesKernelNetwork(runtime: string): boolean {
  return runtime !== 'runsc';
}

function keeperLost(): Fault {
  return new Fault('conflict', 'the keeper of the sandbox was killed, and the streams of its command are gone', {
    hint: 'carrel exec still works; stop and start it for a new keeper.',
  });
}

function noSandboxes(): Fault {
  return new Fault('unsupported', 'a hub in a container makes no sandboxes', {
    hint: 'Its projects are in containers beside it; carrel compose renders them.',
  });
}

function noNetwork(runtime: string): Fault {
  return new Fault('unsupported', `a sandbox under ${runtime} cannot have a network`, {
    hint: 'Leave out --network, or use --runtime crun.',
  });
}
