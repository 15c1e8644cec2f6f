/**
 * Accepts connections inside a sandbox within its limits of number and rate. Beyond them it stops accepting: connections
 * wait in the kernel, where they cost other sandboxes nothing.
 */
import { closeSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { duplicate } from '../../../../lib/sys/network-namespace.ts';
import type { TokenBucket } from '../limit/rate-limit.ts';

export interface AcceptLimits {
  readonly rate: TokenBucket;
  /** The number of further connections that may be open. */
  room(): number;
}

export class Listener {
  readonly #fd: number;
  readonly #gate: AcceptLimits;
  readonly #accept: (socket: Socket) => void;
  #server: Server | null = null;
  #isEarly = false;
  #isClosed = false;

  /** Takes over the descriptor of a listening socket. */
  constructor(fd: number, gate: AcceptLimits, accept: (socket: Socket) => void) {
    this.#fd = fd;
    this.#gate = gate;
    this.#accept = accept;
    this.resume();
  }

  /** Accepts again; called when a connection has closed. */
  resume(): void {
    if (this.#server !== null || this.#isClosed || this.#isEarly || this.#gate.room() <= 0) return;
    const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true });
    this.#server = server;
    server.on('connection', (socket) => this.#take(socket));
    server.on('error', () => this.#pause());
    server.listen({ fd: duplicate(this.#fd) });
  }

  #take(socket: Socket): void {
    // A client that hangs up is no error.
    socket.on('error', () => socket.destroy());
    const waitMs = this.#gate.rate.takeMs();
    this.#accept(socket);
    if (waitMs > 0) this.#wait(waitMs);
    else if (this.#gate.room() <= 0) this.#pause();
  }

  /** Stops accepting for a time, even if there is room for connections. */
  #wait(ms: number): void {
    this.#pause();
    this.#isEarly = true;
    setTimeout(() => {
      this.#isEarly = false;
      this.resume();
    }, ms);
  }

  #pause(): void {
    this.#server?.close();
    this.#server = null;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#pause();
    closeSync(this.#fd);
  }
}
