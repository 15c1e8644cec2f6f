/**
 * The network of sandboxes.
 *
 * A sandbox has a network namespace of its own, with loopback and nothing else: no route, no name server. All other
 * connections go through the proxy, one process per installation that decides about each. For each sandbox the proxy
 * listens on 127.0.0.1 in that sandbox's namespace; a connection to that socket identifies the sandbox. This needs no
 * program of Carrel inside.
 *
 * Life cycle: `attach` makes the proxy listen for a sandbox, or changes its rules; connections that the rules no longer
 * allow are closed. `detach` closes all of them. The proxy starts with the first attachment, outlives the daemon, is
 * adopted by the next one, and exits when it has neither sandboxes nor a daemon. A proxy that died is started again and
 * gets every attachment again; until then no socket listens, so sandboxes reach nothing.
 *
 * Promises:
 * - The proxy acts on orders of the daemon only. It reads no file that a sandbox could have written.
 * - A name is checked before it is looked up, and looked up once per connection; only a checked address is dialled.
 * - In TLS the name in the handshake is the requested one. In plain HTTP the Host is, in each request.
 * - Every attempt is recorded before a byte of it passes, and again when it ends.
 * - Limits are per sandbox: one that uses up its limits does not slow down another.
 * - `attach` and `detach` are idempotent. When `attach` returns, the sandbox's ports answer.
 *
 * Faults: `unsupported` (the namespace cannot be entered), `not_ready` (the sandbox is gone), `conflict` (a port of the
 * host is taken), `unavailable` (no proxy can be started).
 */
import type { ProcessRef } from '../../lib/process/process.ts';
import type { CredentialKey } from './credential/credential.ts';
import type { NetworkLimits, PortForward } from './model/network.ts';
import type { DeclaredService } from './model/service.ts';

/** Ports of 127.0.0.1 inside. Credentials count up from `credential`; declared services have 17010 to 17099. */
export const insidePorts = { proxy: 17_000, credential: 17_100 } as const;

/** The base URL inside for the credential at this index of a sandbox's list. */
export function credentialUrl(at: number): string {
  return `http://127.0.0.1:${insidePorts.credential + at}`;
}

/** The identity of a sandbox, as services get it. */
export interface SandboxCaller {
  readonly id: string;
  readonly name: string;
  readonly user: string;
}

/** Everything the proxy knows of one sandbox. Plain JSON. */
export interface Attachment extends SandboxCaller {
  /** A process whose network namespace is the sandbox's. */
  readonly init: ProcessRef;
  /** The folder for the record of its connections; no sandbox can write there. */
  readonly folder: string;
  /** Rules of `noun/network/model/network.ts`. */
  readonly allow: readonly string[];
  readonly limits: NetworkLimits;
  readonly services: readonly DeclaredService[];
  readonly credentials: readonly CredentialKey[];
  readonly ports: readonly PortForward[];
}

export interface Network {
  attach(attachment: Attachment): Promise<void>;
  detach(id: string): Promise<void>;
  /** Detaches all other sandboxes, which an earlier daemon may have left. */
  keepOnly(ids: readonly string[]): Promise<void>;
  /** Disconnects from the proxy, which continues to run. */
  dispose(): void;
}
