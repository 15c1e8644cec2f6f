/** Turns a request into containers of a swarm: everything is read and checked, nothing is done yet. */
import { randomBytes } from 'node:crypto';
import { Fault } from '../../../../model/fault.ts';
import { printable, sandboxNamePattern } from '../../../../model/name.ts';
import { type AgentNeeds, keyGrants, requireProgram, withKeyOf } from '../../../agent/agent.ts';
import { type AgentSpec, adapterCommand, checkAdapterSettings } from '../../../agent/model/agent.ts';
import { agentPresets } from '../../../agent/model/table.ts';
import { presetOfKey, presetRoute } from '../../../network/model/credential.ts';
import type { SandboxRequest } from '../../../sandbox/api.ts';
import { agentGrantFields } from '../../../table.ts';
import { type AddedGrants, type ContainerWork, freshWork, type SwarmContainer } from '../../model/swarm.ts';
import { progressOf, type TaskFile } from '../../model/task.ts';
import { type TaskPlace, taskPath } from '../../task/task.ts';
import type { SwarmConfig } from '../config.ts';

export interface RunChoice {
  readonly agent?: string | undefined;
  /** The author of the commits; undefined: the agent. */
  readonly author?: { readonly name: string; readonly email: string } | undefined;
  readonly sandbox?: Partial<SandboxRequest> | undefined;
}

export interface OrderParts extends AgentNeeds {
  readonly config: SwarmConfig;
}

export const defaultAgent = 'claude';

export function agentOf(name: string, { agents }: OrderParts['config']): AgentSpec {
  const known = { ...agentPresets, ...agents };
  if (Object.hasOwn(known, name)) return known[name]!;
  throw new Fault('not_found', `there is no agent ${printable(name)}`, {
    hint: `There are ${Object.keys(known).join(', ')}; more go into \`agents\` of config.yaml.`,
  });
}

/**
 * The request for the sandbox of a task file, without its name. Refused if the agent would lack its program or its key;
 * a key whose service is known becomes a credential, which stays.
 */
export function requestFor(project: string, choice: RunChoice, parts: OrderParts): SandboxRequest {
  const { agent: name = defaultAgent, author, sandbox: wanted = {} } = choice;
  const agent = agentOf(name, parts.config);
  const { storySeconds, stallSeconds, image } = parts.config.swarm;
  const picked = image !== null && wanted.engine === 'docker' ? { image, ...wanted } : wanted;
  requireProgram(name, agent, picked, parts);
  const grants = keyGrants(name, agent, wanted, parts);
  const keyed = withKeyOf(agent, { ...wanted, ...grants }, parts);
  const service = serviceFor(keyed);
  const settings = {
    agent: keyed,
    name,
    ...(author ? { author } : {}),
    storySeconds,
    stallSeconds,
    ...(service ? { service } : {}),
  };
  const command = [...adapterCommand(settings)];
  return { ...picked, ...grants, project, mode: 'overlay', command, stdin: true };
}

/** The service that the adapter checks: it ends an agent whose service cannot be reached. */
function serviceFor({ key }: AgentSpec): { readonly place: string; readonly base: string } | null {
  const preset = key === undefined ? null : presetOfKey(key.secret);
  if (preset === null) return null;
  const { host, port, base } = presetRoute(preset);
  return { place: `${host}:${port}`, base };
}

/** The options that another attempt keeps. */
const kept = [
  ...(['engine', 'image', 'rootfs', 'runtime', 'limits'] as const),
  ...(['env', 'secrets', 'credentials', 'services', 'network'] as const),
  ...agentGrantFields,
];

/** What the request has for the agent's key, besides what the user requested. */
export function addedGrants({ sandbox = {} }: RunChoice, request: SandboxRequest): AddedGrants {
  const { secrets = [], credentials = [] } = request;
  return { secrets: without(secrets, sandbox.secrets), credentials: without(credentials, sandbox.credentials) };
}

function without(names: readonly string[], others: readonly string[] = []): string[] {
  return names.filter((name) => !others.includes(name));
}

/**
 * The choice for another attempt: each option that is given now overrides that of the attempt before. The agent's key
 * is looked for again: there may be another one by now, and another agent needs another one.
 */
export function choiceAgain(
  { agent, request, added }: ContainerWork,
  { agent: other, author, sandbox }: RunChoice,
): RunChoice {
  const keptValue = (field: (typeof kept)[number]) => {
    const value = request[field];
    if (field !== 'secrets' && field !== 'credentials') return value;
    const left = without((value ?? []) as readonly string[], added?.[field]);
    return left.length === 0 ? undefined : left;
  };
  const before = Object.fromEntries(
    kept.map((field) => [field, keptValue(field)] as const).filter(([, value]) => value !== undefined),
  ) as Partial<SandboxRequest>;
  const limits = { ...before.limits, ...sandbox?.limits };
  return { agent: other ?? agent, author: author ?? authorIn(request), sandbox: { ...before, ...sandbox, limits } };
}

function authorIn({ command }: ContainerWork['request']): RunChoice['author'] {
  try {
    return checkAdapterSettings(JSON.parse((command as readonly string[])[1] ?? '')).author;
  } catch {
    return undefined;
  }
}

export interface NewWork {
  readonly place: TaskPlace;
  readonly file: TaskFile;
}

/** Adds the name of the container to `taken`. */
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
      added: addedGrants(choice, request),
      stories: storiesOf(file),
    }),
  };
}

export function storiesOf({ userStories }: TaskFile): ContainerWork['stories'] {
  return Object.fromEntries(userStories.map(({ id, status }) => [id, { status, output: '' }]));
}

/** The name is the feature in the name of the file, with a number if that is taken. */
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
