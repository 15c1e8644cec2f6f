import { closeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Places } from '../../../kernel/home/places.ts';
import { Anchor, within } from '../../../lib/file/anchor.ts';
import { openRegularBelow, readBounded } from '../../../lib/file/bounded-read.ts';
import { readIfThere } from '../../../lib/file/file.ts';
import type { Sandbox } from '../../sandbox/model.ts';
import type { SandboxPart } from '../../sandbox/part/part.ts';
import { configurePath, type McpServer, mcpAddedPath, mcpAppliedName, mcpListName } from '../model/mcp.ts';

const maxListBytes = 4 * 1024 ** 2;

/**
 * The command, started by a program that first writes the sandbox's MCP servers into the files of agents. Without
 * servers, now and before, that program is not needed.
 */
function configuredCommand(sandbox: Sandbox, places: Places, command: readonly string[]): readonly string[] {
  if (!hasServers(sandbox, places) && !hadServers(sandbox, places)) return command;
  return [configurePath, ...(command.length === 0 ? ['sleep', 'infinity'] : command)];
}

/** The MCP servers of a sandbox, in the files of agents. */
export const configured: SandboxPart = { command: configuredCommand };

/**
 * Whether `carrel-configure` has nothing left to write. The agent can write the `applied` file, so it may be anything.
 */
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

/** A command of the user is started in the usual way if only the project has servers. */
function hasServers({ id, spec }: Sandbox, places: Places): boolean {
  const text = readIfThere(join(places.sandbox(id), 'metadata', mcpListName));
  if (text === null) return false;
  const { servers } = JSON.parse(text) as { servers: readonly McpServer[] };
  const [program] = spec.command;
  const isAgents = program === undefined || program.startsWith(`${dirname(configurePath)}/`);
  return servers.some(({ from }) => isAgents || from !== 'project');
}

/** Whether an earlier start, or another sandbox with the same home, wrote servers. */
function hadServers({ id, spec }: Sandbox, places: Places): boolean {
  if (isFileBelow(join(places.state(id), 'data'), mcpAppliedName)) return true;
  return spec.sharedHome === true && isFileBelow(places.userHome(spec.user), mcpAddedPath);
}

/** Follows no links: agents write in these folders, and by a link they could find out which files this machine has. */
function isFileBelow(folder: string, path: string): boolean {
  try {
    const file = within(Anchor.open(folder), (root) => openRegularBelow(root, path.split('/')));
    if (file !== null) closeSync(file.fd);
    return file !== null;
  } catch {
    return false;
  }
}
