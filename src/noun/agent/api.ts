/** What requests and answers about the terminal programs of agents look like. */
import { z } from 'zod';
import { agentGrants } from '../grant-api.ts';
import { sandboxRequest, sandboxView } from '../sandbox/api.ts';

const { engine, network, services, env, author, projectSeen, program } = sandboxRequest.shape;

export const agentRequest = z.strictObject({
  agent: z.string().min(1).max(64),
  project: z.string().startsWith('/').max(4096),
  projectSeen,
  /** Create another sandbox, even if the project has one for the agent. */
  new: z.boolean().optional(),
  /** Arguments for the agent. */
  args: z.array(z.string().max(131_072)).max(1000).optional(),
  terminal: sandboxRequest.shape.terminal.unwrap(),
  engine,
  network,
  services,
  ...agentGrants,
  env,
  author,
  /** The agent's program on the PATH of the client: used if sandboxes have none. */
  program,
  /** The client found a login of the agent on its machine, which `carrel agent login` could take over. */
  hasLogin: z.boolean().optional(),
});

export const openedAgent = z.strictObject({
  sandbox: sandboxView,
  /** `running`: the program ran already, and its screen has to be drawn again. */
  how: z.enum(['created', 'started', 'running']),
});

export const agentView = z.strictObject({
  name: z.string(),
  /** The path of its program in sandboxes; null: they have none. */
  program: z.string().nullable(),
  /** Version of the program, if Carrel installed it. */
  version: z.string().nullable(),
  /** The credential or the secret that it gets; null: there is none. */
  key: z.string().nullable(),
});

export type AgentRequest = z.input<typeof agentRequest>;
export type AgentView = z.output<typeof agentView>;
export type OpenedAgent = z.output<typeof openedAgent>;
