/**
 * Authentication at the port of the hub. Each HTTP request and each WebSocket handshake is authenticated by the token in its
 * `Authorization` header, on loopback too, because other accounts of the machine can connect. The token says whose hub it opens.
 *
 * Promises:
 * - A request without a valid token throws `unauthenticated`. In doubt, the request is refused.
 * - A token in a URL is refused, also a valid one: URLs end up in logs.
 * - `check` is called before each message of a connection that is already open, so a revoked token ends open sessions too.
 */
import type { Fault } from '../../../model/fault.ts';
import type { HubCaller } from '../hub.ts';

/** The parts of an HTTP request that authentication looks at. */
export interface AuthenticationRequest {
  readonly authorization: string | undefined;
  /** Path and query, as the client sent them. */
  readonly url: string;
  /**
   * The values of the header in which the proxy names a sandbox. Trust them only at a socket that the proxy alone can
   * open.
   */
  readonly caller?: readonly string[] | undefined;
}

export interface ClientIdentity {
  readonly user: string;
  /** `caller.name` is the same for all requests with one token: limits are counted by it. */
  readonly caller: HubCaller;
  /** Throws `unauthenticated` when the token has expired or was revoked meanwhile. */
  check(): void;
}

export interface Authentication {
  authenticate(request: AuthenticationRequest): Promise<ClientIdentity>;
  /** The value of `WWW-Authenticate` for a refusal with this fault; `origin` is that of the port, such as http://127.0.0.1:3000. */
  challenge(fault: Fault, origin: string): string | null;
  /** The public document at a path, such as the metadata of RFC 9728; null: there is none. */
  document(path: string, origin: string): object | null;
  /** Called after tokens were revoked, so that their sessions end at once. */
  onRevoked?: () => void;
}
