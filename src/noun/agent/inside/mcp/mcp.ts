/**
 * The MCP servers of a sandbox in the settings of its agents.
 *
 * Before the command of the sandbox starts, `carrel-configure` reads the list that the daemon wrote (`list.ts`), says for
 * each agent which entries its file should have (`format.ts`), and adds them (`configure.ts`). It records what it added,
 * in the home, so that a later start can change or remove it.
 *
 * Promises:
 * - Only entries that are still as they were added are changed or removed: what an agent or a person wrote stays.
 * - A file is replaced atomically. One that cannot be parsed stays as it is, with a warning, and the sandbox starts.
 */
import type { McpServer } from '../../model/mcp.ts';

/** The list that the daemon writes: `mcp.json` of the metadata. */
export interface McpList {
  readonly servers: readonly McpServer[];
  /** Names of servers in the project's file that are not configured. */
  readonly shadowed: readonly string[];
}

export interface AgentFile {
  readonly path: string;
  readonly wanted: readonly ConfigAddition[];
}

export type ConfigAddition =
  /** A value of JSON, at a path. */
  | { readonly kind: 'value'; readonly path: readonly string[]; readonly value: unknown }
  /** A text in a list of JSON. */
  | { readonly kind: 'item'; readonly path: readonly string[]; readonly value: string }
  /** A table of TOML, by its name and with its header. */
  | { readonly kind: 'table'; readonly path: readonly string[]; readonly value: string };

export interface ChangedConfig {
  readonly text: string;
  /** The entries in the text that Carrel may change or remove later. */
  readonly added: readonly ConfigAddition[];
}
