/**
 * Spokes: the sandboxes of projects, as the hub reaches them. A spoke is created or started when a tool first needs it. The daemon keeps one
 * connection to a program in it; when the program or the sandbox has ended, the next call starts it again.
 */
import type { Process } from '../../engine/engine.ts';
import { type CallOptions, SpokeConnection } from '../../hub/spoke-connection.ts';
import { Fault, isFault } from '../../model/fault.ts';
import { type Project, spokeName } from '../../model/project.ts';
import { hasEnded, type Sandbox } from '../../model/sandbox.ts';
import { idlePath, type SpokeMethod, type SpokeMethods, spokePath } from '../../model/spoke.ts';

export interface SpokeParts {
  readonly sandboxes: {
    /** The sandbox as it is now; `not_found` where there is none. */
    current(name: string): Promise<{ readonly value: Sandbox }>;
    create(request: SpokeRequest): Promise<unknown>;
    start(name: string): Promise<unknown>;
  };
  /** Starts a command in a running sandbox. */
  exec(sandbox: Sandbox, command: readonly string[]): Promise<Process>;
  /** Records what a command may have changed. */
  ended(sandbox: Sandbox): Promise<void>;
}

export interface SpokeRequest {
  readonly name: string;
  readonly project: string;
  readonly mode: Project['mode'];
  readonly command: string[];
}

export class Spokes {
  readonly #parts: SpokeParts;
  readonly #connections = new Map<string, Promise<SpokeConnection>>();

  constructor(parts: SpokeParts) {
    this.#parts = parts;
  }

  async call<M extends SpokeMethod>(
    project: Project,
    method: M,
    asked: SpokeMethods[M][0],
    options?: CallOptions,
  ): Promise<SpokeMethods[M][1]> {
    const connection = await this.#connect(project);
    return connection.call(method, asked, options);
  }

  /** One at a time for each project. One that failed is forgotten, so that the next call tries again. */
  #connect(project: Project): Promise<SpokeConnection> {
    const known = this.#connections.get(project.id);
    if (known) return known;
    const made = this.#open(project);
    this.#connections.set(project.id, made);
    const forget = () => {
      if (this.#connections.get(project.id) === made) this.#connections.delete(project.id);
    };
    made.then((connection) => connection.closed.then(forget), forget);
    return made;
  }

  async #open(project: Project): Promise<SpokeConnection> {
    const sandbox = await this.#running(project);
    const program = await this.#parts.exec(sandbox, [spokePath]);
    program.stderr.resume();
    const connection = new SpokeConnection(program, project.id);
    void connection.closed.then(() => this.#parts.ended(sandbox)).catch(() => {});
    return connection;
  }

  async #running(project: Project): Promise<Sandbox> {
    const { sandboxes } = this.#parts;
    const name = spokeName(project.id);
    const found = await sandboxes.current(name).catch((error: unknown) => {
      if (isFault(error, 'not_found')) return null;
      throw error;
    });
    if (found === null) {
      await sandboxes.create({ name, project: project.folder, mode: project.mode, command: [idlePath] });
    } else if (found.value.spec.project !== project.folder || found.value.spec.command[0] !== idlePath) {
      throw new Fault('conflict', `the sandbox ${name} is not the one of project ${project.id}`, {
        hint: `carrel rm ${name}, or give the project another id`,
      });
    } else if (hasEnded(found.value.status)) await sandboxes.start(name);
    else return found.value;
    return (await sandboxes.current(name)).value;
  }

  close(): void {
    for (const made of this.#connections.values()) void made.then((connection) => connection.close()).catch(() => {});
  }
}
