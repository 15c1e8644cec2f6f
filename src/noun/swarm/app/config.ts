/** Sections `agents` and `swarm` of config.yaml: agents, and the time-outs of swarms. */
import { z } from 'zod';
import { type At, section } from '../../../kernel/settings/section.ts';
import { Fault } from '../../../model/fault.ts';
import { ShapeError } from '../../../model/shape.ts';
import { type AgentSpec, agentSpec } from '../../agent/model/agent.ts';

const seconds = z.int().min(1).max(604_800);

const agents = z.record(z.string().regex(/^[a-z][a-z0-9-]{0,31}$/), z.unknown()).meta({
  description:
    'Agents by name (`--agent NAME`), besides `claude`, `codex`, `gemini` and `opencode`. `kind: command` gets the story as JSON on stdin and succeeds with exit code 0; `kind: acp` is a program that speaks the Agent Client Protocol. Default: none.',
  examples: [{ mine: { kind: 'command', command: ['my-agent'] } }],
});

const swarm = z
  .strictObject({
    storySeconds: seconds.default(3600).meta({ description: 'Time-out of one story.', examples: [1800] }),
    stallSeconds: seconds
      .default(900)
      .meta({ description: 'Time-out of a story whose agent prints nothing.', examples: [600] }),
    taskSeconds: seconds.default(14_400).meta({ description: 'Time-out of a whole task file.', examples: [28_800] }),
    silenceSeconds: seconds.default(300).meta({
      description: 'Time-out of an adapter that sends nothing; it sends something every ten seconds during a story.',
      examples: [120],
    }),
    image: z
      .string()
      .min(1)
      .max(512)
      .nullable()
      .default(null)
      .meta({
        description: 'The image of sandboxes on a Docker Engine, where neither the command nor the project names one.',
        examples: ['carrel-sandbox:base'],
      }),
  })
  .prefault({})
  .describe('Swarms.');

export interface SwarmConfig {
  readonly agents: Readonly<Record<string, AgentSpec>>;
  readonly swarm: Readonly<z.output<typeof swarm>>;
}

export const swarmConfig = [
  section('agents', { schema: agents.optional(), read: (content, at) => ({ agents: agentsOf(content ?? {}, at) }) }),
  section('swarm', { schema: swarm, read: (content): Pick<SwarmConfig, 'swarm'> => ({ swarm: content }) }),
] as const;

function agentsOf(content: Readonly<Record<string, unknown>>, at: At): SwarmConfig['agents'] {
  const spec = (name: string, content: unknown) => at(`agents.${name}`, () => knownAgent(name, content));
  return Object.fromEntries(Object.entries(content).map(([name, content]) => [name, spec(name, content)]));
}

function knownAgent(name: string, content: unknown): AgentSpec {
  try {
    return agentSpec(content, ['agents', name]);
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    throw new Fault('invalid', error.message, { cause: error });
  }
}
