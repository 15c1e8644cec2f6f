/**
 * One installation: a home and the daemon that holds its lock. It has no records of its own; its answers are made from
 * those of all nouns, so it stands above them.
 *
 *   (a command starts it) → up → shutdown → gone; sandboxes run on
 *
 * Promises:
 * - One daemon holds a home. A second one ends at once, with a reason.
 * - `shutdown` ends no sandbox unless it is asked to stop all of them.
 * - Only the owner sees what concerns the installation as a whole: settings that were refused, paths, other users.
 */
import type { Fault } from '../../model/fault.ts';

export interface Installation {
  readonly version: string;
  readonly home: string;
  readonly rootless: boolean;
  readonly startedAtMs: number;
  readonly settings: { refusal(): string | null; readonly waiting: readonly string[] };
  lastSeq(): number;
  /** The address of MCP at the port; null: none is open. */
  mcp(): string | null;
  readonly port: InstallationPort;
  /** The OpenAPI document of all routes. */
  document(): object;
  /** Returns the names of the sandboxes that it stopped. */
  shutdown(all: boolean): Promise<string[]>;
}

/** Where the daemon answers programs that do not reach its socket. */
export interface HttpSettings {
  readonly port: number;
  readonly address: string;
  /** Files in PEM. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** Requests a second that one token may send. */
  readonly rate: number;
}

/** The port for MCP clients in the settings. */
export interface InstallationPort {
  /** The settings that config.yaml has now; they may take effect only at the next start. */
  settings(): HttpSettings | null;
  /** Why a port with these settings cannot be opened; null: it can. */
  refusal(http: HttpSettings): Promise<Fault | null>;
}
