/**
 * The clients of the port for which the hub keeps state: sessions of older revisions and WebSockets, and also open
 * requests without a session. Sessions and WebSockets are limited for each caller and in total. At a limit, the client
 * that was idle longest is closed; if all are busy, the new client is refused.
 */
import { Fault } from '../../../model/fault.ts';
import type { ClientIdentity } from '../token/authentication.ts';

/** A client or request that is closed when its token is no longer valid. */
export interface Revocable {
  readonly identity: ClientIdentity;
  close(reason: Fault): void;
}

export interface HubClient extends Revocable {
  /** A request or a stream is open. */
  readonly isBusy: boolean;
  readonly usedAtMs: number;
}

export interface ClientLimits {
  readonly perCaller: number;
  readonly total: number;
  /** How long a client may be idle. */
  readonly idleMs: number;
}

export class ClientTable<C extends HubClient = HubClient> {
  readonly #limits: ClientLimits;
  readonly #clients = new Set<C>();
  /** Requests that belong to no session. They are not counted. */
  readonly #requests = new Set<Revocable>();
  readonly #sweeping: NodeJS.Timeout;

  constructor(limits: ClientLimits, sweepMs = 30_000) {
    this.#limits = limits;
    this.#sweeping = setInterval(() => this.sweep(), sweepMs);
    this.#sweeping.unref();
  }

  get size(): number {
    return this.#clients.size;
  }

  add(client: C): void {
    const { perCaller, total } = this.#limits;
    const { name } = client.identity.caller;
    const own = [...this.#clients].filter(({ identity }) => identity.caller.name === name);
    if (own.length >= perCaller) this.#makeRoom(own, `this token has ${perCaller} sessions open`);
    if (this.#clients.size >= total) this.#makeRoom([...this.#clients], `${total} sessions are open`);
    this.#clients.add(client);
  }

  delete(client: C): void {
    this.#clients.delete(client);
  }

  follow(request: Revocable, ended: Promise<void>): void {
    this.#requests.add(request);
    void ended.then(() => this.#requests.delete(request));
  }

  /** Closes clients that were idle for too long, and everything whose token is not valid any more. */
  sweep(): void {
    for (const request of this.#requests) {
      const refusal = refusalOf(request.identity);
      if (refusal !== null) request.close(refusal);
    }
    for (const client of this.#clients) {
      const refusal = refusalOf(client.identity);
      if (refusal !== null) this.#close(client, refusal);
      else if (!client.isBusy && Date.now() - client.usedAtMs > this.#limits.idleMs) this.#close(client, idle());
    }
  }

  close(): void {
    clearInterval(this.#sweeping);
    for (const client of this.#clients) this.#close(client, new Fault('unavailable', 'the daemon is stopping'));
  }

  #makeRoom(clients: readonly C[], why: string): void {
    const [oldest] = clients.filter(({ isBusy }) => !isBusy).toSorted((a, b) => a.usedAtMs - b.usedAtMs);
    if (!oldest) throw new Fault('unavailable', why, { hint: 'Close some of them, or try again later.' });
    this.#close(oldest, idle());
  }

  #close(client: C, reason: Fault): void {
    this.#clients.delete(client);
    client.close(reason);
  }
}

function idle(): Fault {
  return new Fault('timeout', 'the session was idle');
}

function refusalOf(identity: ClientIdentity): Fault | null {
  try {
    identity.check();
    return null;
  } catch (error) {
    return error as Fault;
  }
}
