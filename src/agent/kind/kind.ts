import type { AgentSpec } from '../../model/agent.ts';
import type { RunAgent } from '../agent.ts';
import type { Key } from '../key.ts';
import { claudeAgent } from './claude.ts';
import { commandAgent } from './command.ts';

/** The function that runs a kind of agent. The library for ACP is loaded only for ACP agents. */
export function workOf(spec: AgentSpec, key: Key | null): RunAgent {
  if (spec.kind === 'claude') return claudeAgent(spec, key);
  if (spec.kind === 'command') return commandAgent(spec);
  return async (...args) => (await import('./acp.ts')).acpAgent(spec)(...args);
}
