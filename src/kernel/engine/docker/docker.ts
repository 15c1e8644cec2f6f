/**
 * Sandboxes as containers of a Docker Engine, or of Podman behind the same interface. All state of a sandbox is in the
 * engine, under labels; the engine's folder holds only files to mount and notes of pauses.
 */
import { readdirSync } from 'node:fs';
import type { ContainerInspectInfo } from 'dockerode';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import type { ProcessRef } from '../../../lib/process/process.ts';
import { Fault, isFault } from '../../../model/fault.ts';
import { idPattern } from '../../../model/name.ts';
import type {
  Console,
  Engine,
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
import { readLog as readLogFile } from '../local/log/log-file.ts';
import { countingKills, watchMemoryKills } from '../memory-kills.ts';
import { PendingConsoles } from '../pending-consoles.ts';
import { statusOf } from './connection/connection.ts';
import { Events } from './connection/events.ts';
import { CommandLiveness } from './console/command-liveness.ts';
import { attachConsole } from './console/console.ts';
import { type Execution, execInside } from './console/exec.ts';
import { openLogConsole } from './console/log-console.ts';
import { resizeContainer } from './console/resize.ts';
import { DockerContext, type DockerOptions } from './context.ts';
import { afterRemoval, removeEverything, stopContainer, watchEnd } from './end.ts';
import { readHandle, startedOf } from './handle.ts';
import { hostProcess } from './host-process.ts';
import { readLog } from './log/log.ts';
import { idIn, installationFilter } from './naming.ts';
import { handleOf, observed } from './observe.ts';
import { DockerPauses } from './pause.ts';
import { probe } from './probe.ts';
import { prepareWithPodman } from './start/podman.ts';
import { create } from './start/start.ts';
import { readStats } from './stats.ts';

export function openDockerEngine(options: DockerOptions): Engine {
  return new DockerEngine(new DockerContext(options));
}

class DockerEngine implements Engine {
  readonly name = 'docker';
  readonly #context: DockerContext;
  readonly #events: Events;
  readonly #pauses: DockerPauses;
  readonly #pendingConsoles = new PendingConsoles();
  readonly #executions = new Map<string, Set<Execution>>();
  /** Pids of first processes, as the engine last reported them. */
  readonly #inits = new Map<string, number>();

  constructor(context: DockerContext) {
    this.#context = context;
    this.#pauses = new DockerPauses(context.connection, context.pauses);
    this.#events = new Events(context.connection, context.installation, () => this.list());
  }

  probe() {
    return probe(this.#context);
  }

  expect(): void {}

  async start(launch: Launch, onCreated?: OnCreated): Promise<Started> {
    const { id } = launch;
    const found = await this.inspect(id, null);
    if (found.kind === 'running') return found.started;
    try {
      // After a crash a created container has lost its mounts.
      if (found.kind === 'absent' || found.kind === 'created') {
        if (found.kind === 'created' || this.#context.isBegun(id)) await removeEverything(this.#context, id);
        this.#context.begin(id);
        this.#context.containers.remember(id, await create(this.#context, launch));
        crashPoint('start:created');
        return startedOf(handleOf(await this.#begin(launch, onCreated)));
      }
    } catch (error) {
      this.#pendingConsoles.release(id);
      // Without the stage the sources of the mounts do not exist, so the container cannot start later. If the engine
      // gave no answer, the container may have started, and the command must not run twice: so it is kept.
      this.#context.stage.hide(id);
      if (isAnswered(error)) await removeEverything(this.#context, id);
      throw error;
    }
    return startedOf(handleOf(await this.#present(id)));
  }

  /** With dockerd the namespaces exist only once the command runs, and a short command may have ended by then. */
  async #reportCreated(container: ContainerInspectInfo, onCreated: OnCreated): Promise<void> {
    try {
      if (container.State.Running) await onCreated(() => hostProcess(container));
    } catch (error) {
      const { connection } = this.#context;
      const now = await connection.find((docker) => docker.getContainer(container.Id).inspect());
      if (now?.State.Running) throw error;
    }
  }

  async #begin({ id, terminal, console: held }: Launch, onCreated?: OnCreated): Promise<ContainerInspectInfo> {
    const { connection } = this.#context;
    const early = onCreated !== undefined && (await this.#context.facts()).product === 'Podman';
    const name = await this.#context.containers.idOf(id);
    const liveness = new CommandLiveness(connection, name);
    if (held)
      this.#pendingConsoles.add(id, await attachConsole(connection, name, { liveness, terminal: terminal !== null }));
    if (early) {
      await prepareWithPodman(connection, name);
      const container = await this.#present(id);
      await onCreated(() => hostProcess(container));
    }
    try {
      await connection.ask((docker) => docker.getContainer(name).start());
    } catch (error) {
      // The container was started already.
      if (statusOf(error) !== 304) throw error;
    }
    // Not every engine accepts the size when it creates the container.
    if (terminal) await resizeContainer(connection, name)(terminal.rows, terminal.columns);
    crashPoint('start:begun');
    this.#context.stage.hide(id);
    if (this.#context.hasLog(id)) this.#context.logs.add(this.#context.run(id));
    const container = await this.#present(id);
    liveness.setPid(container.State.Pid);
    if (onCreated && !early) await this.#reportCreated(container, onCreated);
    return container;
  }

  async #present(id: string) {
    const container = await this.#find(id);
    if (container === null) throw new Fault('not_ready', 'the sandbox was removed meanwhile');
    return container;
  }

  async #find(id: string) {
    const found = await this.#context.containers.find(id);
    if (found?.State.Running) this.#inits.set(id, found.State.Pid);
    else this.#inits.delete(id);
    return found;
  }

  async inspect(id: string, handle: Handle): Promise<Observed> {
    if (this.#pauses.isAbandoned(id)) await this.resume(id);
    const container = await afterRemoval(this.#context.connection, await this.#find(id));
    const found = observed(container, handle);
    // After a crash the stage may still be shown. A running container does not need it.
    if (found.kind === 'running' && this.#context.stage.isShown(id)) this.#context.stage.hide(id);
    if (found.kind !== 'paused' || container === null || this.#pauses.over(id) === null) return found;
    return { kind: 'running', started: startedOf(handleOf(container)) };
  }

  async pause(id: string, handle: Handle): Promise<void> {
    const found = await this.inspect(id, handle);
    if (found.kind !== 'running') throw new Fault('conflict', `the sandbox is not running but ${found.kind}`);
    const begun = () => Promise.all([...(this.#executions.get(id) ?? [])].map((one) => one.begun()));
    await this.#pauses.begin(id, await this.#context.containers.idOf(id), begun);
  }

  async resume(id: string): Promise<void> {
    await this.#pauses.end(id, await this.#context.containers.idOf(id));
  }

  /**
   * The run folder of a sandbox exists before its container and is removed last, so the list includes orphans in any
   * state.
   */
  async list(): Promise<readonly string[]> {
    const { connection, installation, runs } = this.#context;
    const filters = JSON.stringify(installationFilter(installation));
    const containers = await connection.ask((docker) => docker.listContainers({ all: true, filters }));
    const labelled = containers.flatMap(({ Labels }) => idIn(Labels) ?? []);
    return [...new Set([...labelled, ...readdirSync(runs).filter((name) => idPattern.test(name))])];
  }

  async stop(id: string, handle: Handle, graceMs: number): Promise<void> {
    const found = await this.inspect(id, handle);
    if (found.kind === 'absent' || found.kind === 'exited') return;
    if (found.kind === 'created') return removeEverything(this.#context, id);
    // The engine records the exit only after all output is read, and the client of this console may not read.
    this.#pendingConsoles.release(id);
    // A paused process does not handle signals.
    await this.resume(id);
    await stopContainer(this.#context, await this.#context.containers.idOf(id), graceMs);
  }

  async remove(id: string): Promise<void> {
    this.#pendingConsoles.release(id);
    await this.resume(id);
    await removeEverything(this.#context, id);
  }

  async exec(id: string, handle: Handle, spec: ExecSpec): Promise<Process> {
    let found: Observed;
    do {
      await this.#pauses.over(id);
      found = await this.inspect(id, handle);
    } while (this.#pauses.over(id) !== null);
    if (found.kind !== 'running') throw sandboxNotRunning();
    const container = readHandle(found.started.handle)?.container ?? (await this.#context.containers.idOf(id));
    const kills = watchMemoryKills(this.#inits.get(id) ?? 0);
    const execution = await execInside(this.#context.connection, container, spec);
    this.#remember(id, execution);
    return countingKills(execution.process, kills);
  }

  #remember(id: string, execution: Execution): void {
    const all = this.#executions.get(id) ?? new Set();
    this.#executions.set(id, all.add(execution));
    const forget = () => {
      all.delete(execution);
      if (all.size === 0) this.#executions.delete(id);
    };
    execution.process.exited.then(forget, forget);
  }

  async attach(id: string, handle: Handle): Promise<Console> {
    const pending = this.#pendingConsoles.take(id);
    if (pending) return pending;
    const found = await this.inspect(id, handle);
    if (found.kind !== 'running') throw sandboxNotRunning();
    const container = await this.#present(id);
    const terminal = container.Config.Tty;
    if (this.#context.hasLog(id) && !terminal) return openLogConsole(this.#context, id, container);
    const { connection } = this.#context;
    const liveness = new CommandLiveness(connection, container.Id);
    liveness.setPid(container.State.Pid);
    const console = await attachConsole(connection, container.Id, { liveness, terminal });
    try {
      // If the command had ended already, the connection would stay open until the container is started again.
      const now = await connection.find((docker) => docker.getContainer(container.Id).inspect());
      if (!now?.State.Running) throw sandboxNotRunning();
    } catch (error) {
      console.detach();
      throw error;
    }
    return console;
  }

  async *logs(id: string, options: LogOptions): AsyncGenerator<LogLine> {
    const { connection, log } = this.#context;
    const container = await this.#context.containers.idOf(id);
    if (!this.#context.hasLog(id)) yield* readLog(connection, container, options);
    else yield* readLogFile(this.#context.run(id), log.files, options, () => watchEnd(this.#context, container));
  }

  async stats(id: string): Promise<Stats> {
    return readStats(this.#context.connection, await this.#context.containers.idOf(id));
  }

  async network(id: string, handle: Handle): Promise<ProcessRef> {
    const found = await this.inspect(id, handle);
    if (found.kind !== 'running') throw sandboxNotRunning();
    return hostProcess(await this.#present(id));
  }

  onChange(listener: (id: string) => void): () => void {
    return this.#events.listen(listener);
  }

  async dispose(): Promise<void> {
    // When the engine cannot be reached, the next instance ends the pause, ignoring.
    for (const id of this.#pauses.ids()) await this.resume(id).catch(() => {});
    this.#pendingConsoles.releaseAll();
    this.#context.logs.close();
    await this.#events.close();
  }
}

function isAnswered(error: unknown): boolean {
  return statusOf(error) !== null || !(isFault(error, 'unavailable') || isFault(error, 'timeout'));
}
