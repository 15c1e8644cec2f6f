/** The settings that the agent API in a sandbox gets: its tokens, its agents and their MCP servers. */
import { createHash, createHmac } from 'node:crypto';
import type { TokenKeys } from '../../../kernel/server/token-keys.ts';
import type { AgentServers } from '../../agent/app/mcp/agent-servers.ts';
import { acpServers } from '../../agent/model/mcp.ts';
import type { Sandbox } from '../../sandbox/model.ts';
import type { ApiSettings } from '../model/settings.ts';
import { hashOf, type SessionTokens } from '../session-tokens.ts';
import { type AgentParts, agentsIn, defaultIn } from './agents.ts';

export interface ProgramSettingsParts {
  readonly config: AgentParts['config'];
  /** The keys from which the daemon's tokens are made. */
  readonly keys: Pick<TokenKeys, 'ensure'>;
  readonly agentServers: Pick<AgentServers, 'of'>;
  /** The tokens of clients for the sandbox with this id. */
  tokensOf(id: string): Pick<SessionTokens, 'hashes'>;
}

/** An idle agent is ended after this time; the next prompt starts it again. */
const idleAgentSeconds = 900;

export class ProgramSettings {
  readonly #parts: ProgramSettingsParts;

  constructor(parts: ProgramSettingsParts) {
    this.#parts = parts;
  }

  /** The daemon's own token for one sandbox. */
  tokenOf({ id, spec }: Sandbox): string {
    return createHmac('sha256', this.#parts.keys.ensure(spec.user)).update(id).digest('hex');
  }

  /**
   * Only hashes of tokens go inside. For tokens of clients these are hashes of hashes, because the proxy hashes the
   * tokens of requests to a forwarded port (decision 94).
   */
  of(sandbox: Sandbox): ApiSettings {
    const { config, agentServers, tokensOf } = this.#parts;
    const settings = {
      tokens: [hashOf(this.tokenOf(sandbox)), ...tokensOf(sandbox.id).hashes().map(hashOf)],
      agents: agentsIn(sandbox, config),
      defaultAgent: defaultIn(sandbox),
      mcpServers: acpServers(agentServers.of(sandbox).servers),
      sandbox: sandbox.name,
      idleAgentSeconds,
    };
    return { ...settings, version: createHash('sha256').update(JSON.stringify(settings)).digest('hex') };
  }
}
