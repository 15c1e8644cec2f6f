/** From what a user asks for to containers of a swarm: everything read and checked, nothing done yet. */
import { randomBytes } from 'node:crypto';
import type { SandboxRequest } from '../api/routes.ts';
import { type AgentSpec, adapterCommand, agentPresets } from '../model/agent.ts';
import { Fault } from '../model/fault.ts';
import { printable, sandboxNamePattern } from '../model/name.ts';
import { type ContainerWork, freshWork, type SwarmContainer } from '../model/swarm.ts';
import { progressOf, type TaskFile } from '../model/task.ts';
import { type TaskPlace, taskPath } from '../task/task.ts';
import type { Config } from './config.ts';

export interface RunChoice {
  readonly agent?: string | undefined;
  readonly sandbox?: Partial<SandboxRequest> | undefined;
}

export interface OrderParts {
  readonly config: Pick<Config, 'agents' | 'swarm'>;
  readonly hasSecret: (name: string) => boolean;
  /** The name of a credential for a service that everybody knows; null: there is none. */
  readonly credentialFor: (preset: string) => string | null;
}

export const defaultAgent = 'claude';

export function agentOf(name: string, { agents }: OrderParts['config']): AgentSpec {
  const known = { ...agentPresets, ...agents };
  if (Object.hasOwn(known, name)) return known[name]!;
  throw new Fault('not_found', `there is no agent ${printable(name)}`, {
    hint: `There are ${Object.keys(known).join(', ')}; more go into \`agents\` of config.yaml.`,
  });
}

/** What the sandbox of a task file is made of, its name aside. */
export function requestFor(project: string, choice: RunChoice, parts: OrderParts): SandboxRequest {
  const agent = agentOf(choice.agent ?? defaultAgent, parts.config);
  const { storySeconds, stallSeconds } = parts.config.swarm;
  const command = [...adapterCommand({ agent, storySeconds, stallSeconds })];
  return { ...keyFor(agent, parts), ...choice.sandbox, project, mode: 'overlay', command, stdin: true };
}

/** Whose keys everybody knows where to take. */
const services: Readonly<Record<string, string>> = {
  ANTHROPIC_API_KEY: 'anthropic',
  OPENAI_API_KEY: 'openai',
  GEMINI_API_KEY: 'gemini',
};

/** Rather a credential, whose value never comes in, than the secret itself; without either the agent says what it lacks. */
function keyFor({ key }: AgentSpec, { hasSecret, credentialFor }: OrderParts): Partial<SandboxRequest> {
  if (key === undefined) return {};
  const credential = credentialFor(services[key.secret] ?? '');
  if (credential !== null) return { credentials: [credential] };
  return hasSecret(key.secret) ? { secrets: [key.secret] } : {};
}

export interface NewWork {
  readonly place: TaskPlace;
  readonly file: TaskFile;
}

export function containerFor(
  { place, file }: NewWork,
  request: SandboxRequest,
  choice: RunChoice,
  taken: (name: string) => boolean,
): Pick<SwarmContainer, 'containerId' | 'containerName' | 'taskFilePath' | 'branchName' | 'storyProgress'> & {
  readonly work: ContainerWork;
} {
  const containerName = nameFor(place.name, taken);
  return {
    containerId: randomBytes(8).toString('hex'),
    containerName,
    taskFilePath: taskPath(place),
    branchName: file.metadata.branchName,
    storyProgress: progressOf(file.userStories),
    work: freshWork({
      agent: choice.agent ?? defaultAgent,
      request: { ...request, name: containerName },
      stories: storiesOf(file),
    }),
  };
}

export function storiesOf({ userStories }: TaskFile): ContainerWork['stories'] {
  return Object.fromEntries(userStories.map(({ id, status }) => [id, { status, output: '' }]));
}

/** After the feature in the name of the file; with a number where that is taken. */
function nameFor(file: string, taken: (name: string) => boolean): string {
  const feature = /^\d{4}-\d{2}-\d{2}-(.*)-tasks\.json$/.exec(file)?.[1] ?? '';
  const base = feature
    .toLowerCase()
    .replace(/[^a-z0-9_.-]/g, '-')
    .slice(0, 50);
  const first = sandboxNamePattern.test(base) ? base : 'task';
  for (let number = 1; ; number++) {
    const name = number === 1 ? first : `${first}-${number}`;
    if (!taken(name)) return name;
  }
}
