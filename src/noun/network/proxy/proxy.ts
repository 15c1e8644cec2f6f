/**
 * The proxy: the code of the process `main.ts`, one for each installation.
 *
 * Life cycle of a sandbox in the proxy: an `attach` order makes `SandboxPorts` listen inside, by sockets that the
 * namespace thread creates; another `attach` changes rules, limits and ports and closes what is not allowed any more;
 * `detach`, or the end of its init process, closes everything.
 *
 *   listener ─► front: SOCKS or HTTP ─► tunnel ─► TLS: the name is checked, then relayed
 *                                        │     └► HTTP: parsed, each request an attempt
 *                                        └► a credential's host: `network/credential`
 *
 * Life cycle of an attempt: requested, checked by name, looked up once, checked by address, dialled, recorded, relayed, and
 * recorded again at its end. If the rules no longer allow it, it is cut off.
 *
 * Promises, beyond those of `network.ts`:
 * - One order for one sandbox at a time; orders for several sandboxes run side by side.
 * - The number of connections, the rate of attempts, lookups at a time, bytes per second and bytes in all are limited for
 *   each sandbox. Beyond a limit connections wait in the kernel, and readers wait without a buffer that grows.
 * - A request that two parsers could read differently is refused: the proxy writes requests anew, and closes a tunnel
 *   of an unknown protocol in which HTTP appears.
 * - An uncaught error is logged and ends no connection of another sandbox.
 */

import type { Forwarder } from '../credential/credential.ts';
import type { LookUp } from '../lookup.ts';
import type { Front } from './front/front.ts';
import type { NamespaceSockets } from './socket/namespace-sockets.ts';

/** The parts that all sandboxes of the proxy share. */
export interface ProxyParts {
  readonly sockets: NamespaceSockets;
  readonly front: Front;
  readonly forwarder: Forwarder;
  readonly lookUp: LookUp;
  /** A new id for each attempt. */
  readonly serial: () => string;
}
