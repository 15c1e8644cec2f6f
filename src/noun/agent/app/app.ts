/**
 * Agents in terminals: the sandbox of a project in which an agent's own terminal program runs. The newest one of the agent
 * in the project is used, and started if it has ended; without one, or on request, a new one is created. What is missing,
 * the program or the key, is refused in one message, with the commands that provide it (`readiness.ts`). So are other
 * options for a sandbox that exists.
 */
import { z } from 'zod';
import { declare, definedDetail } from '../../../kernel/server/route.ts';
import * as shape from '../api.ts';
import type { TerminalAgents } from './terminal-agents.ts';

export interface AgentScope {
  readonly terminalAgents: TerminalAgents;
}

const { noun, route } = declare<AgentScope>();

export const agent = noun({
  routes: [
    route('GET /v1/agents', {
      id: 'listAgents',
      summary: 'Agents with a terminal program: where sandboxes find it, and the key that it gets',
      answer: z.array(shape.agentView),
      act: null,
      handle: async ({ scope }) => scope.terminalAgents.list(),
    }),
    route('POST /v1/agents', {
      id: 'openAgent',
      summary: "Find, start or create the sandbox of a project in which an agent's terminal program runs",
      body: shape.agentRequest,
      answer: shape.openedAgent,
      usesSettings: true,
      act: ({ body: { agent: name, project } }) => ({
        verb: 'agent.open',
        names: [],
        detail: definedDetail({ agent: name, project }),
      }),
      done: ({ sandbox: { id, name } }) => ({ targets: [{ id, name }] }),
      handle: ({ scope, body }) => scope.terminalAgents.open(body),
    }),
  ],
});
