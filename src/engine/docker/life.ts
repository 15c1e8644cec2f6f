/**
 * Whether a sandbox's own command still runs. Asked of the kernel rather than of the Docker Engine: while that waits for
 * a slow reader of what a command wrote last, it answers no question about the container.
 */
import { isAlive, type ProcessRef, processRef } from '../../lib/process.ts';
import type { Connection } from './connection.ts';

const answerMs = 1000;

export class Life {
  readonly #connection: Connection;
  readonly #container: string;
  #pid: number | null = null;
  #ref: ProcessRef | null = null;

  constructor(connection: Connection, container: string) {
    this.#connection = connection;
    this.#container = container;
  }

  /** From when on it can be asked. */
  get isKnown(): boolean {
    return this.#pid !== null;
  }

  /** The number of the first process; 0 of one that has ended. */
  settle(pid: number): void {
    this.#pid = pid;
    this.#ref = processRef(pid);
  }

  async isOver(): Promise<boolean> {
    if (this.#pid === 0) return true;
    return this.#ref ? !isAlive(this.#ref) : this.#isOverAsSaid();
  }

  /** Of processes that cannot be seen from here. */
  async #isOverAsSaid(): Promise<boolean> {
    try {
      const find = this.#connection.ask((docker) => docker.getContainer(this.#container).inspect(), answerMs);
      return !(await find).State.Running;
    } catch {
      return true;
    }
  }
}
