/**
 * Connections to a socket that others than the owner can open. Each account has a limit, all accounts together have
 * one, and the last descriptors of the process are reserved for the owner's own socket. A connection without an
 * authenticated request ends after a while; at a limit, the oldest of these is closed to make room, so that idle
 * connections do not keep other clients out. A connection with an authenticated request is never closed: then the new
 * one is refused.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Fault } from '../../model/fault.ts';
import { maxDescriptors } from '../process/process.ts';
import { refusalText } from './refusal.ts';

export interface ConnectionLimits {
  readonly perAccount: number;
  readonly total: number;
  /** How long a connection may stay open without an authenticated request. */
  readonly unauthenticatedMs: number;
  /** Descriptors from this number on are reserved for the owner's socket. */
  readonly firstReserved: number;
}

/** `descriptors`: the limit of the process; `most`: the largest number of connections, whatever that limit is. */
export function limitsFor(descriptors = maxDescriptors(), most = 1024): ConnectionLimits {
  const total = Math.min(most, Math.floor(descriptors / 4));
  return {
    perAccount: Math.min(256, Math.floor(total / 2)),
    total,
    unauthenticatedMs: 10_000,
    firstReserved: descriptors - Math.min(1024, Math.floor(descriptors / 4)),
  };
}

interface Account {
  readonly open: Set<Socket>;
  /** Connections without an authenticated request, oldest first, each with the timer that closes it. */
  readonly waiting: Map<Socket, NodeJS.Timeout>;
}

/** For connections whose account is not known because their process is gone already. */
const unknownAccount = -1;

export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #accountOf: (socket: Socket) => number | null;
  readonly #accounts = new Map<number, Account>();
  readonly #accountIn = new WeakMap<Socket, Account>();
  #total = 0;

  constructor(limits: ConnectionLimits, accountOf: (socket: Socket) => number | null) {
    this.#limits = limits;
    this.#accountOf = accountOf;
  }

  /** Checks each new connection before the handlers of the server get it; with TLS the event is `secureConnection`. */
  guard(server: Server, event: 'connection' | 'secureConnection' = 'connection'): void {
    const handlers = server.listeners(event) as ((socket: Socket) => void)[];
    server.removeAllListeners(event);
    server.on(event, (socket: Socket) => {
      const refusal = this.accept(socket);
      if (refusal !== null) refuse(socket, refusal);
      else for (const handle of handlers) handle.call(server, socket);
    });
  }

  /** Null: the connection is accepted and counted from now on. */
  accept(socket: Socket): Fault | null {
    const number = this.#accountOf(socket) ?? unknownAccount;
    const account = this.#accounts.get(number) ?? { open: new Set(), waiting: new Map() };
    if (!this.#makeRoom(account, descriptorOf(socket))) return tooMany(this.#limits.perAccount);
    this.#accounts.set(number, account);
    this.#accountIn.set(socket, account);
    this.#add(socket, account, number);
    return null;
  }

  /** Called when a request on the connection was authenticated: the connection may stay open. */
  authenticated(socket: Socket): void {
    const waiting = this.#accountIn.get(socket)?.waiting;
    clearTimeout(waiting?.get(socket));
    waiting?.delete(socket);
  }

  #add(socket: Socket, account: Account, number: number): void {
    const timer = setTimeout(() => socket.destroy(), this.#limits.unauthenticatedMs);
    timer.unref();
    account.open.add(socket);
    account.waiting.set(socket, timer);
    this.#total += 1;
    socket.once('close', () => this.#forget(socket, account, number));
  }

  #forget(socket: Socket, account: Account, number: number): void {
    this.#drop(socket, account);
    if (account.open.size === 0 && this.#accounts.get(number) === account) this.#accounts.delete(number);
  }

  #drop(socket: Socket, { open, waiting }: Account): void {
    if (open.delete(socket)) this.#total -= 1;
    clearTimeout(waiting.get(socket));
    waiting.delete(socket);
  }

  /** False: a limit is reached, and every connection that could make room is in use. */
  #makeRoom(account: Account, descriptor: number): boolean {
    const { perAccount, total, firstReserved } = this.#limits;
    if (account.open.size >= perAccount && !this.#closeOldest(account)) return false;
    const isFull = this.#total >= total || descriptor >= firstReserved;
    return !isFull || this.#closeOldest(this.#largest());
  }

  /** Stops counting the connection at once, because its close event arrives later. */
  #closeOldest(account: Account | undefined): boolean {
    const [oldest] = account?.waiting.keys() ?? [];
    if (account === undefined || oldest === undefined) return false;
    this.#drop(oldest, account);
    oldest.destroy();
    return true;
  }

  /** The account with the most connections that can be closed. */
  #largest(): Account | undefined {
    return [...this.#accounts.values()].reduce<Account | undefined>(
      (most, one) => (one.waiting.size > (most?.waiting.size ?? 0) ? one : most),
      undefined,
    );
  }
}

function descriptorOf(socket: Socket): number {
  return (socket as { readonly _handle?: { readonly fd?: number } })._handle?.fd ?? -1;
}

function tooMany(perAccount: number): Fault {
  return new Fault('unavailable', 'too many connections are open', {
    hint: `An account may have ${perAccount} at a time. Try again when some of them have ended.`,
  });
}

/** Sends the refusal as an HTTP response and then closes the connection. */
function refuse(socket: Socket, fault: Fault): void {
  socket.on('error', () => socket.destroy());
  socket.resume();
  socket.end(refusalText(fault), () => socket.destroy());
}
