/**
 * Connections to one agent API. Making one in the network of a sandbox takes longer than most answers, so they can be
 * kept open between requests. Each new connection finds the sandbox again; connections of an earlier start ended with
 * it.
 */
import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** The most idle connections; more are open while more requests run. */
const maxIdle = 4;

export class ApiConnections extends Agent {
  readonly #dial: () => Promise<Socket>;

  constructor(dial: () => Promise<Socket>, isKept: boolean) {
    super({ keepAlive: isKept, maxFreeSockets: maxIdle, scheduling: 'lifo' });
    this.#dial = dial;
  }

  override createConnection(_options: object, made: (error: Error | null, socket?: Duplex) => void): undefined {
    this.#dial().then(
      (socket) => made(null, socket),
      (error: Error) => made(error),
    );
  }
}
