/**
 * The kinds of agents that the adapter can run. Each kind is one function that makes a `RunAgent` (`inside.ts`) from the
 * agent's specification:
 *
 *   command   any program: it gets the story on stdin, and its exit code is the result (`command.ts`)
 *   claude    Claude Code without a terminal, whose output is parsed (`claude.ts`)
 *   acp       a program that speaks the Agent Client Protocol on its stdio (`acp.ts`)
 *
 * Promises of each: the program runs in the checkout of the story, as an argv array. Its output is reported, in lines. It
 * ends when the signal aborts, and the result comes after all of its processes have ended. A program that a signal killed
 * before it gave its result fails the story with `AGENT_CRASH`; one that reports a failure fails it with its own message.
 */

import { type FoundKey, keyEnv } from '../../../agent/inside/key.ts';
import type { AgentSpec } from '../../../agent/model/agent.ts';
import type { RunAgent } from '../inside.ts';
import { acpAgent } from './acp.ts';
import { claudeAgent, claudeEnv } from './claude.ts';
import { commandAgent } from './command.ts';

/** The function that runs a kind of agent. */
export function agentRunner(spec: AgentSpec, key: FoundKey | null): RunAgent {
  if (spec.kind === 'claude') return claudeAgent(spec, key);
  if (spec.kind === 'command') return commandAgent(spec);
  return acpAgent(spec);
}

/** The variables with which that kind of agent gets its key. */
export function agentEnv({ kind }: AgentSpec, key: FoundKey | null): Readonly<Record<string, string>> {
  return kind === 'claude' ? claudeEnv(key) : keyEnv(key);
}
