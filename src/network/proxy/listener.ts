/**
 * Accepts connections inside a sandbox, as many at once and as quickly as the sandbox may. Beyond that nothing is
 * accepted: they wait in the kernel, which costs the others nothing, and not in here.
 */
import { closeSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { duplicate } from '../../lib/network-namespace.ts';
import { replace } from './intake.ts';
import type { Pace } from './pace.ts';

export interface Gate {
  readonly pace: Pace;
  /** How many more may be open. */
  room(): number;
}

export class Listener {
  readonly #fd: number;
  readonly #gate: Gate;
  readonly #accept: (socket: Socket) => void;
  #server: Server | null = null;
  #isEarly = false;
  #isClosed = false;

  /** Takes a socket that listens, and keeps it. */
  constructor(fd: number, gate: Gate, accept: (socket: Socket) => void) {
    this.#fd = fd;
    this.#gate = gate;
    this.#accept = accept;
    this.resume();
  }

  /** When there may be room again. */
  resume(): void {
    if (this.#server !== null || this.#isClosed || this.#isEarly || this.#gate.room() <= 0) return;
    const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true });
    this.#server = server;
    server.on('connection', (socket) => this.#take(socket));
    server.on('error', () => this.#pause());
    server.listen({ fd: duplicate(this.#fd) });
  }

  #take(accepted: Socket): void {
    const socket = replace(accepted);
    // Whoever hangs up is no news to anybody.
    socket.on('error', () => socket.destroy());
    const waitMs = this.#gate.pace.takeMs();
    this.#accept(socket);
    if (waitMs > 0) this.#wait(waitMs);
    else if (this.#gate.room() <= 0) this.#pause();
  }

  /** Room alone is no reason to go on before it is time. */
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
