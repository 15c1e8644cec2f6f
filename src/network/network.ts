/**
 * The network of sandboxes.
 *
 * A sandbox has a network namespace of its own, with loopback and nothing else: no route, no name server. What more it
 * gets is decided outside, by one process per installation, the proxy. For each sandbox the proxy listens on 127.0.0.1
 * in that sandbox's namespace; whoever connects there is that sandbox, whatever they say. Nothing of ours runs inside.
 *
 * Life: `attach` makes the proxy listen for a sandbox, or changes what it may do; connections that are not allowed any
 * more are cut. `detach` ends it all. The proxy starts with the first that is attached, outlives the daemon, is adopted
 * by the next one, and ends by itself when it has neither sandboxes nor a daemon. A proxy that died is started again
 * and told everything again; until then nothing listens, so nothing is open.
 *
 * Promises:
 * - The proxy acts on what the daemon told it and on nothing else. It reads no file that a sandbox could have written.
 * - A name is judged before it is looked up, and looked up once per connection; the address that was judged is dialled.
 * - In TLS the name in the handshake is the one that was asked for. In plain HTTP the Host is, in each request.
 * - Every attempt is recorded before a byte of it is passed on, and again when it ends.
 * - Limits are per sandbox. What one does to its limits does not slow another down.
 * - `attach` and `detach` are repeat-safe. When `attach` returns, the sandbox's ports answer.
 *
 * Faults: `unsupported` (the namespace cannot be entered), `not_ready` (the sandbox is gone), `conflict` (a port of the
 * host is taken), `unavailable` (no proxy can be started).
 */
import type { Socket } from 'node:net';
import type { Transform } from 'node:stream';
import type { ProcessRef } from '../lib/process.ts';
import type { Endpoint } from '../model/host.ts';
import type { NetworkLimits, PortForward } from '../model/network.ts';
import type { DeclaredService } from '../model/service.ts';

/** The ports of 127.0.0.1 inside. Those of credentials count up from theirs; declared services have 17010 to 17099. */
export const insidePorts = { proxy: 17_000, credential: 17_100 } as const;

/** Who a sandbox is, told by us to services of ours. */
export interface Caller {
  readonly id: string;
  readonly name: string;
  readonly user: string;
}

/** Everything the proxy knows of one sandbox. Plain JSON. */
export interface Attachment extends Caller {
  /** A process whose network namespace is the sandbox's. */
  readonly init: ProcessRef;
  /** Where the record of its connections is kept; no sandbox can write there. */
  readonly folder: string;
  /** Rules of `model/network.ts`. */
  readonly allow: readonly string[];
  readonly limits: NetworkLimits;
  readonly services: readonly Service[];
  readonly credentials: readonly Credential[];
  readonly ports: readonly PortForward[];
}

/**
 * A service of ours at a fixed port inside. Who calls, a `Caller`, is told in JSON: in a header of each request, or in one
 * line before the first byte that came from inside.
 */
export type Service = DeclaredService;

/** Where requests go, and the header that they get on the way. */
export interface Target {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly header: string;
  /** The whole value of the header. */
  readonly value: string;
  /** Other headers that carry keys there: what a client says in them does not get through. */
  readonly drops: readonly string[];
}

/** What a sandbox may use and never sees: its host alone gets the header, over verified TLS. Held in memory only. */
export interface Credential extends Target {
  /** The key alone: an answer whose head contains it is not passed on. */
  readonly secret: string;
  /** The port of 127.0.0.1 inside that stands for the host: the base URL. */
  readonly insidePort: number;
  /** Who signs for the host inside, so that connections to it by its own name can be opened up to add the header. */
  readonly issuer: Issuer;
  /** Authorities, in PEM, that the owner trusts besides the well-known ones. */
  readonly roots: readonly string[];
}

/** An authority of this installation, as one sandbox knows it. */
export interface Issuer {
  /** PEM; a key on the curve P-256. */
  readonly key: string;
  /** Told by its certificate and by those it signs. */
  readonly name: string;
}

/** A connection from inside that is for a credential, or for a service that gets to know who calls. */
export interface Call {
  /** As it is now: its value can change while connections are open. */
  readonly target: Target;
  /** The same of a credential. Null: a service of ours, which is spoken to in the clear. */
  readonly credential: Credential | null;
  /** The client inside, from its first byte on: HTTP at the base URL, TLS where `asked` names the host. */
  readonly socket: Socket;
  /** What a client asked the proxy for; null at the base URL. */
  readonly asked: Endpoint | null;
  /** A connection to the target: judged, limited and recorded like any other. No TLS yet. */
  dial(): Promise<Socket>;
  /** What passes goes through one of these each way, so that it counts against the limits of the sandbox. */
  counted(way: 'sent' | 'received'): Transform;
}

/** Answers calls; lives in the proxy. */
export interface Forwarder {
  answer(call: Call): void;
}

export interface Network {
  attach(attachment: Attachment): Promise<void>;
  detach(id: string): Promise<void>;
  /** Detaches all others: what a predecessor of ours may have left attached. */
  keepOnly(ids: readonly string[]): Promise<void>;
  /** Lets go of the proxy, which goes on. */
  dispose(): void;
}
