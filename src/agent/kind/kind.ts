import type { AgentSpec } from '../../model/agent.ts';
import type { Work } from '../agent.ts';
import type { Key } from '../key.ts';
import { claudeAgent } from './claude.ts';
import { commandAgent } from './command.ts';

/** Whoever does the work. The library for ACP agents is loaded only for those. */
export function workOf(spec: AgentSpec, key: Key | null): Work {
  if (spec.kind === 'claude') return claudeAgent(spec, key);
  if (spec.kind === 'command') return commandAgent(spec);
  return async (...given) => (await import('./acp.ts')).acpAgent(spec)(...given);
}
