/** A container that Carrel did not make: reads its mounts of host folders, and runs programs in it. */
import { existsSync } from 'node:fs';
import type { Process } from '../../engine.ts';
import { Connection, noEngine } from '../connection/connection.ts';
import { findSocket } from '../connection/socket.ts';
import { execInside } from '../console/exec.ts';

export interface ForeignMount {
  readonly source: string;
  readonly target: string;
  readonly readonly: boolean;
}

const answerMs = 5000;

export class ForeignContainer {
  readonly #connection: Connection;
  readonly #name: string;

  constructor(name: string, socketPath: string | null) {
    const path = socketPath ?? findSocket(process.env);
    if (!existsSync(path)) throw noEngine(path);
    this.#connection = new Connection(path);
    this.#name = name;
  }

  /** Null: there is no such container. */
  async look(): Promise<{ readonly isRunning: boolean; readonly mounts: readonly ForeignMount[] } | null> {
    const found = await this.#connection.find((docker) => docker.getContainer(this.#name).inspect(), answerMs);
    if (found === null) return null;
    const mounts = found.Mounts.map(({ Source, Destination, RW }) => {
      return { source: Source, target: Destination, readonly: !RW };
    });
    return { isRunning: found.State.Running, mounts };
  }

  /** Runs the command as the user of the container. */
  async exec(command: readonly string[]): Promise<Process> {
    const spec = { command, env: {}, cwd: '/', stdin: false, terminal: null };
    return (await execInside(this.#connection, this.#name, spec)).process;
  }
}
