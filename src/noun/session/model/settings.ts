/** The settings of the agent API inside. */
import type { AcpSpec } from '../../agent/model/agent.ts';

/** What `start` gets on stdin. Tokens are SHA-256, in hex. */
export interface ApiSettings {
  /** The first is the daemon's; only it may read digests and restore logs. */
  readonly tokens: readonly string[];
  /** The agents that sessions may use, by name. */
  readonly agents: Readonly<Record<string, AcpSpec>>;
  readonly defaultAgent: string;
  /** As `mcpServers` of `session/new`. */
  readonly mcpServers: readonly Readonly<Record<string, unknown>>[];
  readonly sandbox: string;
  readonly idleAgentSeconds: number;
  /** Version of these settings. The daemon reads it from `GET /health` to see whether they are current. */
  readonly version?: string;
}
