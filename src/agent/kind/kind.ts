import type { AgentSpec } from '../../model/agent.ts';
import type { RunAgent } from '../agent.ts';
import { type Key, keyEnv } from '../key.ts';
import { claudeAgent, claudeEnv } from './claude.ts';
import { commandAgent } from './command.ts';

/** The function that runs a kind of agent. The library for ACP is loaded only for ACP agents. */
export function agentRunner(spec: AgentSpec, key: Key | null): RunAgent {
  if (spec.kind === 'claude') return claudeAgent(spec, key);
  if (spec.kind === 'command') return commandAgent(spec);
  return async (...args) => (await import('./acp.ts')).acpAgent(spec)(...args);
}

/** The variables with which that kind of agent gets its key. */
export function agentEnv({ kind }: AgentSpec, key: Key | null): Readonly<Record<string, string>> {
  return kind === 'claude' ? claudeEnv(key) : keyEnv(key);
}
