import { closeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Anchor, within } from '../lib/anchor.ts';
import { openRegularBelow, readBounded } from '../lib/bounded-read.ts';
import { readIfThere } from '../lib/file.ts';
import { configurePath, type McpServer, mcpAddedPath, mcpAppliedName, mcpListName } from '../model/mcp.ts';
import type { Sandbox } from '../model/sandbox.ts';
import type { Places } from './launch.ts';

const maxListBytes = 4 * 1024 ** 2;

/** The command after the files of agents have the MCP servers of the sandbox. Without servers, now and before, there is nothing to write. */
export function configuredCommand(sandbox: Sandbox, places: Places): readonly string[] {
  const { command } = sandbox.spec;
  if (!hasServers(sandbox, places) && !hadServers(sandbox, places)) return command;
  return [configurePath, ...(command.length === 0 ? ['sleep', 'infinity'] : command)];
}

/** Whether `carrel-configure` has nothing left to write. The second file is the agent's, and may be anything. */
export function isConfigured(sandbox: Sandbox, places: Places): boolean {
  const wanted = join(places.sandbox(sandbox.id), 'metadata', mcpListName);
  const applied = join(places.state(sandbox.id), 'data', mcpAppliedName);
  if (!hasServers(sandbox, places) && !hadServers(sandbox, places)) return true;
  try {
    return readBounded(applied, maxListBytes)?.bytes.toString() === readIfThere(wanted);
  } catch {
    return true;
  }
}

/** Servers of a project alone are no reason to start a command of the user in another way. */
function hasServers({ id, spec }: Sandbox, places: Places): boolean {
  const text = readIfThere(join(places.sandbox(id), 'metadata', mcpListName));
  if (text === null) return false;
  const { servers } = JSON.parse(text) as { servers: readonly McpServer[] };
  const [program] = spec.command;
  const isAgents = program === undefined || program.startsWith(`${dirname(configurePath)}/`);
  return servers.some(({ from }) => isAgents || from !== 'project');
}

/** In an earlier start, or in another sandbox with the same home. */
function hadServers({ id, spec }: Sandbox, places: Places): boolean {
  if (isFileBelow(join(places.state(id), 'data'), mcpAppliedName)) return true;
  return spec.sharedHome === true && isFileBelow(places.userHome(spec.user), mcpAddedPath);
}

/** Agents write in these folders: a link there would tell them by their next start which files this machine has. */
function isFileBelow(folder: string, path: string): boolean {
  try {
    const file = within(Anchor.open(folder), (root) => openRegularBelow(root, path.split('/')));
    if (file !== null) closeSync(file.fd);
    return file !== null;
  } catch {
    return false;
  }
}
