/** The MCP servers of a sandbox: those of its grants, and those that files of the user, of the owner and of the project name. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Places } from '../../../../kernel/home/places.ts';
import { readBoundedReal } from '../../../../lib/file/bounded-read.ts';
import { parseBounded } from '../../../../lib/wire/bounded-json.ts';
import { asFault } from '../../../../model/fault.ts';
import type { Sandbox } from '../../../sandbox/model.ts';
import { isConfigured } from '../../mcp/configure.ts';
import {
  joinedServers,
  type McpOrigin,
  type McpServers,
  maxMcpFileBytes,
  mcpFileName,
  mcpListName,
  ownServers,
  serversIn,
} from '../../model/mcp.ts';

const newMs = 10_000;
const maxWaitMs = 3000;
const pollMs = 20;

export interface AgentServersParts {
  readonly places: Places;
  /** The folder with the owner's plugins. */
  readonly basePlugins: string;
  /** The name of a secret of this user whose value is in the text; null: there is none. */
  readonly secretIn: (user: string, text: string) => string | null;
}

export class AgentServers {
  readonly #parts: AgentServersParts;

  constructor(parts: AgentServersParts) {
    this.#parts = parts;
  }

  of({ spec }: Pick<Sandbox, 'spec'>): McpServers {
    const { places, basePlugins } = this.#parts;
    const { user, project } = spec;
    return joinedServers([
      { servers: ownServers(spec), skipped: [] },
      this.#inFolder(user, places.userHome(user), 'home'),
      this.#inFolder(user, basePlugins, 'base-plugins'),
      ...(project === null ? [] : [this.#inFolder(user, project, 'project')]),
    ]);
  }

  /** Called before each start: writes the list that the programs inside read. */
  provide(sandbox: Sandbox): void {
    const { servers, skipped } = this.of(sandbox);
    const shadowed = skipped.filter(({ from }) => from === 'project').map(({ name }) => name);
    const folder = join(this.#parts.places.sandbox(sandbox.id), 'metadata');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, mcpListName), `${JSON.stringify({ servers, shadowed })}\n`, { mode: 0o644 });
  }

  /** Commands of the user shortly after a start wait until the files of agents are written, but not for long. */
  async settled(sandbox: Sandbox): Promise<void> {
    const isNew = Date.now() - Date.parse(sandbox.status.startedAt ?? '') < newMs;
    for (let waitedMs = 0; isNew && waitedMs < maxWaitMs; waitedMs += pollMs) {
      if (isConfigured(sandbox, this.#parts.places)) return;
      await pause(pollMs);
    }
  }

  /** Agents can write all of these files except that of the owner, so no link is followed and sizes are limited. */
  #inFolder(user: string, folder: string, from: McpOrigin): McpServers {
    const none = { servers: [], skipped: [] };
    try {
      const file = readBoundedReal(join(folder, mcpFileName), maxMcpFileBytes);
      return file === null ? none : this.#withoutSecrets(user, serversIn(parseBounded(file.bytes), from));
    } catch (error) {
      return { servers: [], skipped: [{ name: mcpFileName, from, reason: asFault(error).message }] };
    }
  }

  #withoutSecrets(user: string, { servers, skipped }: McpServers): McpServers {
    const refusals = [...skipped];
    const kept = servers.filter(({ name, from, server }) => {
      const secret = this.#parts.secretIn(user, JSON.stringify(server));
      if (secret !== null) refusals.push({ name, from, reason: `it has the value of the secret ${secret}` });
      return secret === null;
    });
    return { servers: kept, skipped: refusals };
  }
}
