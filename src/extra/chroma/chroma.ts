/**
 * Chroma for sandboxes: a server that knows no users, behind a broker that does.
 *
 *   start → (ask: place of a sandbox)* → (rest → act → go on)* → dispose
 *
 * The broker is a process of its own. It starts the server as its child, in a network namespace that has loopback only, so no other
 * process of the machine reaches it; or it uses a server elsewhere. It listens at a unix socket that only the daemon's account can open; the
 * proxy connects there for a sandbox and puts the identity of the sandbox into a header.
 *
 * Promises:
 * - A sandbox has one tenant and database, whatever a request names. The daemon decides which; the broker asks once for each sandbox.
 * - The broker writes each request anew from a list of routes and of fields of their bodies. Anything else is refused.
 * - An id of a collection is passed on only if the collection is in the sandbox's database: the server itself finds any collection by its id.
 * - A server that ends, or does not answer, is started again, with longer waits. Requests wait for it, for a limited time.
 * - The server has committed a write to its SQLite file, with fsync, before it acknowledges it; the broker adds no buffer of its own.
 * - A damaged file of the server is set aside, and the server begins with a new one.
 * - The broker ends with the daemon, and the server with the broker.
 */
import type { ChromaPlace } from './model.ts';

/** How the broker gets a server: it starts a local one, or uses a remote one. */
export type ServerPlan =
  | {
      readonly kind: 'local';
      /** The program of the package `chromadb`. */
      readonly program: string;
      readonly data: string;
      /** The folder of the lock and the log. */
      readonly folder: string;
    }
  | { readonly kind: 'remote'; readonly url: string; readonly headers: Readonly<Record<string, string>> };

export type ChromaState = 'absent' | 'starting' | 'ready' | 'resting' | 'failed';

export interface ChromaStatus {
  readonly state: ChromaState;
  /** The version that the server reports. */
  readonly version: string | null;
  /** Why the server is not ready. */
  readonly reason: string | null;
  /** Folders with damaged files. */
  readonly setAside: readonly string[];
}

export interface Chroma {
  start(): void;
  status(): ChromaStatus;
  /** Stops the server while `act` uses its files. Requests wait. */
  whileAtRest<T>(act: () => Promise<T>): Promise<T>;
  /** Removes the database of a sandbox that is removed. */
  release(sandbox: string, place: ChromaPlace): Promise<void>;
  /** Removes all databases of a tenant. `unavailable` if the server does not answer: then some may be left. */
  erase(tenant: string): Promise<void>;
  /** Call it when settings may have changed, or a package may have been installed. */
  refresh(): void;
  dispose(): Promise<void>;
}

/** Lines of JSON from the daemon to the broker … */
export type ToBroker =
  | { readonly verb: 'begin'; readonly socket: string; readonly plan: ServerPlan }
  | { readonly verb: 'place'; readonly sandbox: string; readonly place: ChromaPlace | null }
  | { readonly verb: 'rest'; readonly serial: number }
  | { readonly verb: 'go'; readonly serial: number }
  | { readonly verb: 'drop'; readonly serial: number; readonly sandbox: string; readonly place: ChromaPlace }
  | { readonly verb: 'erase'; readonly serial: number; readonly tenant: string };

/** … and back. */
export type FromBroker =
  | { readonly verb: 'ask'; readonly sandbox: string }
  | { readonly verb: 'status'; readonly status: ChromaStatus }
  | { readonly verb: 'done'; readonly serial: number; readonly error: string | null };
