/**
 * The spoke of one project. The first call starts it, and so does the next call after its end. A start counts as
 * successful when the program has answered a ping; after repeated failed starts, calls fail at once until the back-off
 * is over. A spoke that no call used for the idle time is stopped, unless a client runs a command in it.
 *
 * Its state is observed: `healthy` while the connection is open, `unreachable` after an end or a failed start, else
 * `registered`.
 */
import type { Process } from '../../../../kernel/engine/engine.ts';
import { Backoff } from '../../../../lib/flow/backoff.ts';
import { withTimeout } from '../../../../lib/flow/with-timeout.ts';
import { asFault, Fault, isFault } from '../../../../model/fault.ts';
import type { CodeSetup } from '../../../project/model/language.ts';
import { type Project, type SpokeState, spokeName } from '../../../project/model/project.ts';
import { hasEnded, type Sandbox } from '../../../sandbox/model.ts';
import { idlePath, type SpokeMethod, type SpokeMethods, spokePath } from '../../model/spoke.ts';
import { type SpokeCallOptions, SpokeConnection, type SpokeStreams } from '../../spoke/spoke.ts';
import { endOf } from './program-end.ts';
import { retryAfterEnd } from './retry-after-end.ts';

export interface SpokeParts {
  readonly sandboxes: {
    /** The sandbox as it is now; `not_found` if there is none. */
    current(name: string): Promise<{ readonly value: Sandbox }>;
    create(request: SpokeSandboxRequest): Promise<unknown>;
    start(name: string): Promise<unknown>;
    stop(name: string): Promise<unknown>;
    /** Waits until the sandbox has ended. */
    wait(name: string, signal: AbortSignal): Promise<unknown>;
  };
  /** Starts a command in a running sandbox. */
  exec(sandbox: Sandbox, command: readonly string[]): Promise<Process>;
  /** The language servers that the spoke may use. */
  setup(project: Project): CodeSetup;
  /** Records what a command may have changed. */
  ended(sandbox: Sandbox): Promise<void>;
  /** Records the state of a spoke when it has changed. */
  observed(project: Project, state: SpokeState, reason: string | null): void;
  /** Whether a command of a client runs in the sandbox. */
  isInUse(sandbox: Sandbox): boolean;
  idleMs(): number;
  nowMs(): number;
}

export interface SpokeSandboxRequest {
  readonly name: string;
  readonly project: string;
  readonly mode: 'bind' | 'overlay';
  readonly command: string[];
}

const firstAnswerMs = 60_000;

export class Spoke {
  readonly #project: Project;
  readonly #parts: SpokeParts;
  readonly #backoff = new Backoff();
  #connection: Promise<SpokeConnection> | null = null;
  #stopping: Promise<void> | null = null;
  #idle: NodeJS.Timeout | undefined;
  #calls = 0;
  #lastEnd = '';
  #isReleased = false;
  /** The open connection; null as soon as it is closed on purpose. */
  #open: SpokeConnection | null = null;

  constructor(project: Project, parts: SpokeParts) {
    this.#project = project;
    this.#parts = parts;
    this.#awaitIdle();
  }

  async call<M extends SpokeMethod>(
    method: M,
    request: SpokeMethods[M][0],
    options?: SpokeCallOptions,
  ): Promise<SpokeMethods[M][1]> {
    this.#calls += 1;
    clearTimeout(this.#idle);
    try {
      return await (await this.#connected()).call(method, request, options);
    } finally {
      this.#calls -= 1;
      this.#awaitIdle();
    }
  }

  /**
   * Takes the connection of a spoke elsewhere that dialled the hub. The newest connection counts: an older one may be
   * half open.
   */
  async accept(streams: SpokeStreams): Promise<void> {
    const connection = new SpokeConnection(streams, this.#where);
    await this.#answered(connection);
    this.#close();
    this.#connection = Promise.resolve(connection);
    this.#opened(connection);
    connection.onClose(() => {
      if (this.#open === null) this.#connection = null;
    });
  }

  /** Closes the connection; states are not recorded any more. */
  release(): void {
    this.#isReleased = true;
    clearTimeout(this.#idle);
    this.#close();
  }

  get #where(): string {
    return `project ${this.#project.id}`;
  }

  get isHealthy(): boolean {
    return this.#open !== null;
  }

  /** All calls share one connection. One that failed or ended is forgotten, so that the next call tries again. */
  async #connected(): Promise<SpokeConnection> {
    await this.#stopping;
    const known = this.#connection;
    if (known) return known;
    if (this.#project.mode === 'elsewhere') throw this.#notConnected();
    const made = this.#start();
    this.#connection = made;
    const forget = () => {
      if (this.#connection === made) this.#connection = null;
    };
    made.then((connection) => connection.onClose(forget), forget);
    return made;
  }

  async #start(): Promise<SpokeConnection> {
    const waitMs = this.#backoff.waitMs(this.#parts.nowMs());
    if (waitMs > 0) throw this.#notAgain(waitMs);
    try {
      const connection = await this.#dial();
      this.#opened(connection);
      return connection;
    } catch (error) {
      const { code, message } = asFault(error);
      this.#lastEnd = message;
      if (['unavailable', 'timeout', 'internal'].includes(code)) this.#backoff.failed(this.#parts.nowMs());
      this.#observe('unreachable', message);
      throw error;
    }
  }

  #opened(connection: SpokeConnection): void {
    this.#backoff.succeeded();
    this.#open = connection;
    this.#observe('healthy', null);
    connection.onClose((end) => {
      if (this.#open !== connection) return;
      this.#open = null;
      this.#observe('unreachable', end);
    });
  }

  async #dial(): Promise<SpokeConnection> {
    const { sandboxes, exec } = this.#parts;
    const started = async () => {
      const sandbox = await this.#running();
      return { sandbox, program: await exec(sandbox, [spokePath]) };
    };
    const ended = (signal: AbortSignal) => sandboxes.wait(spokeName(this.#project.id), signal);
    const { sandbox, program } = await retryAfterEnd(started, ended);
    const connection = new SpokeConnection(program, this.#where, endOf(program));
    connection.onClose(() => void this.#parts.ended(sandbox).catch(() => {}));
    return this.#answered(connection);
  }

  async #answered(connection: SpokeConnection): Promise<SpokeConnection> {
    try {
      await withTimeout(firstAnswerMs, connection.call('spoke/ping', {}), () => {
        throw new Fault('timeout', `the spoke of project ${this.#project.id} does not answer`);
      });
      await connection.call('code/setup', this.#parts.setup(this.#project));
    } catch (error) {
      connection.close();
      throw error;
    }
    return connection;
  }

  async #running(): Promise<Sandbox> {
    const { sandboxes } = this.#parts;
    const { id, folder, image } = this.#project;
    const mode = this.#project.mode === 'overlay' ? 'overlay' : 'bind';
    const name = spokeName(id);
    const found = await this.#sandbox();
    const toolchain = image ? { image, engine: 'docker' as const } : {};
    if (found === null) await sandboxes.create({ name, project: folder, mode, command: [idlePath], ...toolchain });
    else if (!this.#isOwn(found)) {
      throw new Fault(
        'conflict',
        `the hub needs the name ${name} for the sandbox of project ${id}, but another sandbox has it`,
        {
          hint: `Remove that sandbox: carrel rm ${name} — or give the project another id: carrel project rm ${id}, then carrel project add --name ID`,
        },
      );
    } else if (hasEnded(found.status)) await sandboxes.start(name);
    else return found;
    const { value } = await sandboxes.current(name);
    if (!hasEnded(value.status)) return value;
    const { state, reason } = value.status;
    throw new Fault('unavailable', `the sandbox ${name} ended at once: ${reason ?? state}`, {
      hint: `carrel logs ${name}`,
    });
  }

  async #sandbox(): Promise<Sandbox | null> {
    try {
      return (await this.#parts.sandboxes.current(spokeName(this.#project.id))).value;
    } catch (error) {
      if (isFault(error, 'not_found')) return null;
      throw error;
    }
  }

  #isOwn({ spec }: Sandbox): boolean {
    return spec.project === this.#project.folder && spec.command[0] === idlePath;
  }

  #awaitIdle(): void {
    if (this.#calls > 0 || this.#isReleased || this.#project.mode === 'elsewhere') return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#stopIdle(), this.#parts.idleMs());
    this.#idle.unref();
  }

  #stopIdle(): void {
    if (this.#calls > 0) return;
    // If the sandbox cannot be stopped now, the next idle time tries again, ignoring why.
    this.#stopping = this.#stop().catch(() => {});
    void this.#stopping.then(() => {
      this.#stopping = null;
    });
  }

  async #stop(): Promise<void> {
    const found = await this.#sandbox();
    if (found === null || hasEnded(found.status) || !this.#isOwn(found)) return;
    if (this.#parts.isInUse(found)) return this.#awaitIdle();
    this.#close();
    this.#observe('registered', null);
    await this.#parts.sandboxes.stop(spokeName(this.#project.id));
  }

  #close(): void {
    const closing = this.#open;
    this.#open = null;
    this.#connection = null;
    closing?.close();
  }

  #observe(state: SpokeState, reason: string | null): void {
    if (!this.#isReleased) this.#parts.observed(this.#project, state, reason);
  }

  #notConnected(): Fault {
    const { id } = this.#project;
    return new Fault('unavailable', `project ${id} is elsewhere and not connected`, {
      hint: `Start it there: carrel hub spoke prints the program; it needs CODEBUDDY_URL, PROJECT_ID=${id} and a token for spokes.`,
    });
  }

  #notAgain(waitMs: number): Fault {
    const { id } = this.#project;
    const times = `${this.#backoff.failures} times in a row`;
    return new Fault('unavailable', `the spoke of project ${id} could not be started ${times}: ${this.#lastEnd}`, {
      hint: `The next attempt is possible in ${Math.ceil(waitMs / 1000)} s. See: carrel logs ${spokeName(id)}`,
    });
  }
}
