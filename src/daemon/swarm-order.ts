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
  /** Of the commits; without, it is the agent. */
  readonly author?: { readonly name: string; readonly email: string } | undefined;
  readonly sandbox?: Partial<SandboxRequest> | undefined;
}

export interface OrderParts {
  readonly config: Pick<Config, 'agents' | 'swarm'>;
  readonly hasSecret: (name: string) => boolean;
  /** The names of credentials for a service that everybody knows. */
  readonly credentialsFor: (preset: string) => readonly string[];
}

const defaultAgent = 'claude';

export function agentOf(name: string, { agents }: OrderParts['config']): AgentSpec {
  const known = { ...agentPresets, ...agents };
  if (Object.hasOwn(known, name)) return known[name]!;
  throw new Fault('not_found', `there is no agent ${printable(name)}`, {
    hint: `There are ${Object.keys(known).join(', ')}; more go into \`agents\` of config.yaml.`,
  });
}

/** What the sandbox of a task file is made of, its name aside. */
export function requestFor(project: string, choice: RunChoice, parts: OrderParts): SandboxRequest {
  const { agent: name = defaultAgent, author, sandbox: asked = {} } = choice;
  const agent = agentOf(name, parts.config);
  const { storySeconds, stallSeconds, image } = parts.config.swarm;
  const command = [...adapterCommand({ agent, name, ...(author ? { author } : {}), storySeconds, stallSeconds })];
  const picked = image !== null && asked.engine === 'docker' ? { image } : {};
  return { ...picked, ...asked, ...keyFor(agent, asked, parts), project, mode: 'overlay', command, stdin: true };
}

/** Whose keys everybody knows where to take. */
const services: Readonly<Record<string, string>> = {
  ANTHROPIC_API_KEY: 'anthropic',
  OPENAI_API_KEY: 'openai',
  GEMINI_API_KEY: 'gemini',
};

/**
 * Besides what is asked for: rather a credential, whose value never comes in, than the secret itself. Without either the
 * agent says what it lacks.
 */
function keyFor(
  { key }: AgentSpec,
  { credentials = [], secrets = [] }: Partial<SandboxRequest>,
  { hasSecret, credentialsFor }: OrderParts,
): Partial<SandboxRequest> {
  if (key === undefined || secrets.includes(key.secret)) return {};
  const [known, ...others] = credentialsFor(services[key.secret] ?? '');
  if (known === undefined) return hasSecret(key.secret) ? { secrets: [...secrets, key.secret] } : {};
  return [known, ...others].some((name) => credentials.includes(name)) ? {} : { credentials: [...credentials, known] };
}

export interface NewWork {
  readonly place: TaskPlace;
  readonly file: TaskFile;
}

/** Its name is taken from then on. */
export function containerFor(
  { place, file }: NewWork,
  request: SandboxRequest,
  choice: RunChoice,
  taken: Set<string>,
): Pick<SwarmContainer, 'containerId' | 'containerName' | 'taskFilePath' | 'branchName' | 'storyProgress'> & {
  readonly work: ContainerWork;
} {
  const containerName = nameFor(place.name, taken);
  taken.add(containerName);
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
function nameFor(file: string, taken: ReadonlySet<string>): string {
  const feature = /^\d{4}-\d{2}-\d{2}-(.*)-tasks\.json$/.exec(file)?.[1] ?? '';
  const base = feature
    .toLowerCase()
    .replace(/[^a-z0-9_.-]/g, '-')
    .slice(0, 50);
  const first = sandboxNamePattern.test(base) ? base : 'task';
  for (let number = 1; ; number++) {
    const name = number === 1 ? first : `${first}-${number}`;
    if (!taken.has(name)) return name;
  }
}
