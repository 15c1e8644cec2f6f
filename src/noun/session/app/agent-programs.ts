/** The agent API in each sandbox: how the daemon starts it, gives it settings and connects to it. */
import { Socket } from 'node:net';
import type { EngineOf, Process } from '../../../kernel/engine/engine.ts';
import { notStarted } from '../../../kernel/engine/exit.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { withTimeout } from '../../../lib/flow/with-timeout.ts';
import { collect } from '../../../lib/process/collect.ts';
import { listenerAt } from '../../../lib/process/listener.ts';
import type { ProcessRef } from '../../../lib/process/process.ts';
import { Fault } from '../../../model/fault.ts';
import type { Sandbox } from '../../sandbox/model.ts';
import { AgentApi } from '../agent-api.ts';
import { agentApiPath, agentApiPort } from '../model/session.ts';
import { requireAgentApi } from './agent-api-listener.ts';
import type { ProgramSettings } from './program-settings.ts';

/** Connects in the network of a process, and resolves to the descriptor of the socket. */
export interface SandboxSockets {
  connect(process: ProcessRef, port: number, family: 4 | 6): Promise<number>;
}

export interface AgentProgramsParts {
  readonly store: Pick<Store, 'get'>;
  readonly engineOf: EngineOf;
  readonly settings: Pick<ProgramSettings, 'of' | 'tokenOf'>;
  /** Starts a program in a running sandbox. */
  startIn(sandbox: Sandbox, command: readonly string[]): Promise<Process>;
  /** Starts the thread that connects. `failed` is called when it has ended. */
  openSockets(failed: () => void): Promise<SandboxSockets>;
}

const startMs = 60_000;

export class AgentPrograms {
  readonly #parts: AgentProgramsParts;
  #sockets: Promise<SandboxSockets> | null = null;

  constructor(parts: AgentProgramsParts) {
    this.#parts = parts;
  }

  /** A client that connects to the program as the sandbox runs at that time. */
  clientOf(sandbox: Sandbox): AgentApi {
    const { store, settings } = this.#parts;
    const now = () => store.get('sandbox', sandbox.id)?.value ?? sandbox;
    return new AgentApi(() => this.#connect(now()), settings.tokenOf(sandbox));
  }

  /** Whether the program that answered this on `GET /health` has the settings that it would get now. */
  isCurrent(sandbox: Sandbox, health: unknown): boolean {
    const { version } = this.#parts.settings.of(sandbox);
    return (health as { readonly settings?: unknown } | null)?.settings === version;
  }

  /** Starts the program, or gives one that runs its settings. */
  async start(sandbox: Sandbox): Promise<void> {
    const settings = this.#parts.settings.of(sandbox);
    const program = await this.#parts.startIn(sandbox, [agentApiPath, 'start']);
    const stderr = collect(program.stderr, 2000);
    program.stdout.resume();
    program.stdin.on('error', () => {});
    program.stdin.end(JSON.stringify(settings));
    const exit = await withTimeout(startMs, program.exited, () => null as never);
    if (exit === null) await program.signal('SIGKILL').catch(() => {});
    if (exit?.exitCode === 0) return;
    if (exit?.exitCode === notStarted) throw withoutPrograms(sandbox);
    const { pid } = await this.#network(sandbox);
    requireAgentApi(sandbox.name, listenerAt(agentApiPort, pid));
    const why = stderr().toString().trim() || (exit === null ? 'it does not end' : `exit code ${exit.exitCode}`);
    throw new Fault('unavailable', `the agent API of ${sandbox.name} could not be started: ${why}`, {
      hint: `Try: carrel exec ${sandbox.name} -- ${agentApiPath} start`,
    });
  }

  async #connect(sandbox: Sandbox): Promise<Socket> {
    const init = await this.#network(sandbox);
    const fd = await (await this.#thread()).connect(init, agentApiPort, 4);
    const socket = new Socket({ fd, readable: true, writable: true }).setNoDelay(true);
    try {
      requireAgentApi(sandbox.name, listenerAt(agentApiPort, init.pid));
      return socket;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  /**
   * The thread is started with the first connection. If it ended or could not start, the next connection starts another.
   */
  #thread(): Promise<SandboxSockets> {
    if (this.#sockets !== null) return this.#sockets;
    const forget = () => {
      this.#sockets = null;
    };
    this.#sockets = this.#parts.openSockets(forget);
    this.#sockets.catch(forget);
    return this.#sockets;
  }

  #network(sandbox: Sandbox) {
    return this.#parts.engineOf(sandbox).network(sandbox.id, sandbox.status.handle);
  }
}

/** Older versions mounted these programs only in some sandboxes. */
function withoutPrograms({ name }: Sandbox): Fault {
  return new Fault('conflict', `the sandbox ${name} was started without the programs that sessions need`, {
    hint: `The next start mounts them: carrel stop ${name} && carrel start ${name}`,
  });
}
