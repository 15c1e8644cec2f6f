/**
 * Whether a sandbox's command still runs. The kernel is asked instead of the Docker Engine: while the engine waits for
 * a slow reader of the last output, it does not answer requests about the container.
 */
import { isAlive, type ProcessRef, processRef } from '../../../../lib/process/process.ts';
import type { Connection } from '../connection/connection.ts';

const answerMs = 1000;

export class CommandLiveness {
  readonly #connection: Connection;
  readonly #container: string;
  #pid: number | null = null;
  #ref: ProcessRef | null = null;

  constructor(connection: Connection, container: string) {
    this.#connection = connection;
    this.#container = container;
  }

  /** Whether the pid is known already. */
  get isKnown(): boolean {
    return this.#pid !== null;
  }

  /** The pid of the first process; 0 for one that has ended. */
  setPid(pid: number): void {
    this.#pid = pid;
    this.#ref = processRef(pid);
  }

  async isOver(): Promise<boolean> {
    if (this.#pid === 0) return true;
    return this.#ref ? !isAlive(this.#ref) : this.#isOverByEngine();
  }

  /**
   * Asks the engine, for a process that is not visible on this machine. An engine that does not answer counts as an
   * end.
   */
  async #isOverByEngine(): Promise<boolean> {
    try {
      const find = this.#connection.ask((docker) => docker.getContainer(this.#container).inspect(), answerMs);
      return !(await find).State.Running;
    } catch {
      return true;
    }
  }
}
