/** Why a container of a swarm ended as it did, and what can be done about it. */
import { type AgentSpec, agentPackages, checkAdapterSettings } from './agent.ts';
import type { ContainerWork, SwarmContainer } from './swarm.ts';

/** Null: there is nothing to say, or it did not fail. */
export function reasonOf({ status, work, reason }: Pick<SwarmContainer, 'status' | 'work' | 'reason'>): string | null {
  if (work === null) return reason ?? null;
  return work.reason ?? (status === 'failed' ? firstCause(work) : null);
}

/** What went wrong on the way, each told once. */
export function errorsOf({ errors, completion }: Pick<ContainerWork, 'errors' | 'completion'>): string[] {
  return [...new Set([...errors, ...(completion?.errors ?? [])])];
}

/** A line that broke and was made again ended nothing. */
function firstCause(work: Pick<ContainerWork, 'errors' | 'completion'>): string | null {
  const errors = errorsOf(work);
  return errors.find((error) => !error.startsWith('ACP_CONNECTION_LOST')) ?? errors[0] ?? null;
}

type Hint = (name: string, agent: AgentSpec | null) => string;

const hints: Readonly<Record<string, Hint>> = {
  AGENT_NOT_INSTALLED: (name, agent) => `${installation(agent)}; then: carrel swarm resume ${name}`,
  SERVICE_UNREACHABLE: (name) =>
    `See what it tried with: carrel net log ${name} — go on with: carrel swarm resume ${name}`,
  MISSING_ENV_VAR: (name, agent) =>
    `Keep its key with: carrel secret set ${agent?.key?.secret ?? agent?.anyKey?.[0] ?? 'ANTHROPIC_API_KEY'} < FILE; then: carrel swarm resume ${name}`,
  CONTAINER_OOM: (name) => `Give it more: carrel swarm resume ${name} --memory 8g`,
  CONTAINER_TIMEOUT: (name) => `Longer limits go into \`swarm\` of config.yaml; then: carrel swarm resume ${name}`,
};

/** The command that goes on from a failure; null for what did not fail, and for what a script looks after. */
export function hintOf(container: SwarmContainer): string | null {
  const { containerName: name, status, work } = container;
  if (status !== 'failed' || work === null) return null;
  const [code = ''] = /^[A-Z_]+(?=:|$)/.exec(reasonOf(container) ?? '') ?? [];
  const found = Object.hasOwn(hints, code) ? hints[code] : undefined;
  return (
    found?.(name, agentIn(work)) ??
    `Read what it said: carrel swarm logs ${name} — try again: carrel swarm resume ${name}`
  );
}

function installation(agent: AgentSpec | null): string {
  const [program = ''] = agent?.command ?? [];
  const known = Object.hasOwn(agentPackages, program) ? agentPackages[program] : null;
  if (known === null) return 'Install it in what the sandbox is made of';
  return `Install it in what the sandbox is made of, in .carrel/Dockerfile.sandbox or here: npm install -g --prefix /usr/local ${known}`;
}

function agentIn({ request }: ContainerWork): AgentSpec | null {
  try {
    return checkAdapterSettings(JSON.parse((request.command as readonly string[])[1]!)).agent;
  } catch {
    return null;
  }
}
