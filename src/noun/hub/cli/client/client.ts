/**
 * The MCP clients that `hub connect` knows, and where each keeps its settings. `install.ts` adds the entry for the hub to
 * such a file, JSON or TOML: the file is replaced atomically, other entries stay, and a backup is kept.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';

export const clientNames = ['claude-code', 'claude-desktop', 'cursor', 'vscode', 'codex'] as const;
export type ClientName = (typeof clientNames)[number];

export interface McpClient {
  readonly name: ClientName;
  /** The file with its MCP servers. */
  readonly file: string;
  /** A path that exists if the client was used on this machine. */
  readonly sign: string;
  /** The client starts from a terminal, so it finds programs by the user's PATH. */
  readonly hasPath: boolean;
  /** An entry needs the kind of transport in `type`. */
  readonly wantsType: boolean;
  /** The JSON key whose value has the servers; null: the file is TOML with a table for each server. */
  readonly key: string | null;
}

export function mcpClients(env: NodeJS.ProcessEnv = process.env, home = homedir()): McpClient[] {
  const config = env.XDG_CONFIG_HOME || join(home, '.config');
  const claude = env.CLAUDE_CONFIG_DIR || home;
  const codex = env.CODEX_HOME || join(home, '.codex');
  const inFolder = (folder: string, file: string) => ({ sign: folder, file: join(folder, file) });
  const claudeFile = join(claude, '.claude.json');
  const [terminal, window] = [
    { hasPath: true, wantsType: true },
    { hasPath: false, wantsType: true },
  ];
  return [
    { name: 'claude-code', file: claudeFile, sign: claudeFile, ...terminal, key: 'mcpServers' },
    {
      name: 'claude-desktop',
      ...inFolder(join(config, 'Claude'), 'claude_desktop_config.json'),
      ...{ hasPath: false, wantsType: false, key: 'mcpServers' },
    },
    { name: 'cursor', ...inFolder(join(home, '.cursor'), 'mcp.json'), ...window, key: 'mcpServers' },
    { name: 'vscode', ...inFolder(join(config, 'Code/User'), 'mcp.json'), ...window, key: 'servers' },
    { name: 'codex', ...inFolder(codex, 'config.toml'), ...terminal, key: null },
  ];
}
