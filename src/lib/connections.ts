/**
 * Connections to a socket that others than the owner can open. Each account has a limit, all together have one, and
 * the last descriptors of the process are left to the owner's own socket. A connection without an authenticated request ends after a
 * while; at a limit, the oldest of these is closed to make room, so that idle connections do not keep other clients out. An authenticated one
 * is never closed: then the new one is refused.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Fault } from '../model/fault.ts';
import { maxDescriptors } from './process.ts';
import { refusalText } from './refusal.ts';

export interface ConnectionLimits {
  readonly perAccount: number;
  readonly total: number;
  /** How long one may stay open without an authenticated request. */
  readonly unauthenticatedMs: number;
  /** From this number on, descriptors are the owner's. */
  readonly firstReserved: number;
}

/** `descriptors`: how many the process may have; `most`: how many connections, whatever that is. */
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
  /** Those without an authenticated request and when each is closed, oldest first. */
  readonly waiting: Map<Socket, NodeJS.Timeout>;
}

/** Of an account that cannot be told: its process is gone already. */
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

  /** Puts itself before what the server does with a new connection; with TLS the event is `secureConnection`. */
  guard(server: Server, event: 'connection' | 'secureConnection' = 'connection'): void {
    const handlers = server.listeners(event) as ((socket: Socket) => void)[];
    server.removeAllListeners(event);
    server.on(event, (socket: Socket) => {
      const refusal = this.accept(socket);
      if (refusal !== null) refuse(socket, refusal);
      else for (const handle of handlers) handle.call(server, socket);
    });
  }

  /** Null: it is counted from now on. */
  accept(socket: Socket): Fault | null {
    const number = this.#accountOf(socket) ?? unknownAccount;
    const account = this.#accounts.get(number) ?? { open: new Set(), waiting: new Map() };
    if (!this.#makeRoom(account, descriptorOf(socket))) return tooMany(this.#limits.perAccount);
    this.#accounts.set(number, account);
    this.#accountIn.set(socket, account);
    this.#add(socket, account, number);
    return null;
  }

  /** A request on it was authenticated: it may stay. */
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

  /** False: every connection that could make room is in use. */
  #makeRoom(account: Account, descriptor: number): boolean {
    const { perAccount, total, firstReserved } = this.#limits;
    if (account.open.size >= perAccount && !this.#closeOldest(account)) return false;
    const isFull = this.#total >= total || descriptor >= firstReserved;
    return !isFull || this.#closeOldest(this.#largest());
  }

  /** It is not counted from here on: that it is gone is heard later. */
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

/** As an answer, for a client that reads it before the connection is gone. */
function refuse(socket: Socket, fault: Fault): void {
  socket.on('error', () => socket.destroy());
  socket.resume();
  socket.end(refusalText(fault), () => socket.destroy());
}
