/**
 * Credentials in the proxy: a sandbox uses a key that it never sees.
 *
 * Life cycle: the daemon attaches a sandbox with its credentials, keys included; the proxy holds them in memory. A client
 * inside calls either the base URL, `http://127.0.0.1:PORT`, or the host by its own name through the proxy, where TLS is
 * terminated with a certificate of the installation's authority. Each such connection is a `CredentialCall`. The forwarder answers it:
 * each request goes to the host with the header added, over verified TLS, and the response comes back. A changed value
 * is used from the next request on; when a credential is taken away, its connections are closed.
 *
 * Promises:
 * - Only the host of the credential gets the header, and only over TLS that is verified by name and authority; over plain HTTP
 *   if the credential was declared with `http://`, and then only at the base URL.
 * - The client's own headers of that name are removed, in any spelling; so are others that carry keys to that host.
 * - A credential for a part of a host is for that part alone: requests for other paths are refused.
 * - Every request is parsed strictly and written anew; only methods that APIs use pass. A request that
 *   could be read in two ways is refused.
 * - A response whose head contains the key is not passed on. Redirects go to the client, which has no key to follow with.
 * - Nothing is stored: bodies stream both ways with back-pressure, the first byte of a response passes at once, and when one
 *   side closes, the other is closed.
 * - The key of the authority is in no sandbox. The certificate that a sandbox trusts is limited to its hosts by name
 *   constraints.
 *
 * The same forwarder answers calls to services, without TLS and with the caller as the header.
 */
import type { Socket } from 'node:net';
import type { Transform } from 'node:stream';
import type { Headers } from '../../../lib/wire/http-headers.ts';
import type { Endpoint } from '../../../model/host.ts';
import type { Paths } from '../model/credential.ts';

/** The host that requests go to, and the header that the proxy adds. */
export interface CredentialTarget {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** Undefined for a credential: TLS. */
  readonly scheme?: 'http';
  readonly header: string;
  /** The whole value of the header. */
  readonly value: string;
  /** Other headers that carry keys there; those of a client are removed. */
  readonly drops: readonly string[];
  /** A second header that is added with it, name and value. */
  readonly also?: readonly [string, string];
  /** Only requests for these paths are sent. */
  readonly paths?: Paths;
}

/** A key that a sandbox uses and never sees: only its host gets the header. In memory only. */
export interface CredentialKey extends CredentialTarget {
  /** The key alone: a response whose head contains it is not passed on. */
  readonly secret: string;
  /** The port of 127.0.0.1 inside that stands for the host: the base URL. */
  readonly insidePort: number;
  /** Signs certificates for the host inside, so that the proxy can decrypt connections to its name and add the header. */
  readonly issuer: Issuer;
  /** Authorities, in PEM, that the owner trusts besides those of Node. */
  readonly roots: readonly string[];
}

/** The authority of this installation, as one sandbox trusts it. */
export interface Issuer {
  /** PEM; a key on the curve P-256. */
  readonly key: string;
  /** The name in its certificate and in those that it signs. */
  readonly name: string;
}

/** A connection from inside to a credential's host or to a service. */
export interface CredentialCall {
  /** The current target: its value can change while connections are open. */
  readonly target: CredentialTarget;
  /** The target if it is the host of a credential. Null: a service, without TLS. */
  readonly credential: CredentialKey | null;
  /**
   * The connection of the client inside, from its first byte on: HTTP at the base URL, TLS if `endpoint` names the host.
   */
  readonly socket: Socket;
  /** The endpoint that the client requested of the proxy; null at the base URL. */
  readonly endpoint: Endpoint | null;
  /** Returns the headers that pass; undefined: the client's own headers pass, with the header of the target. */
  headers?(received: Headers): string[];
  /** Connects to the target: checked, limited and recorded like any other connection. No TLS yet. */
  dial(): Promise<Socket>;
  /** A stream for each way that counts what passes against the limits of the sandbox. */
  counted(way: 'sent' | 'received'): Transform;
}

/** Answers calls, in the proxy. */
export interface Forwarder {
  answer(call: CredentialCall): void;
}
