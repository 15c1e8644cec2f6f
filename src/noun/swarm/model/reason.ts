/** Hints for a container of a swarm that failed. */
import { type AgentSpec, checkAdapterSettings } from '../../agent/model/agent.ts';
import { agentPackages } from '../../agent/model/table.ts';
import { type ContainerWork, reasonOf, type SwarmContainer } from './swarm.ts';

type Hint = (name: string, agent: AgentSpec | null) => string;

const hints: Readonly<Record<string, Hint>> = {
  AGENT_NOT_INSTALLED: (name, agent) => `${installation(agent)}; then: carrel swarm resume ${name}`,
  SERVICE_UNREACHABLE: (name) =>
    `See what it tried with: carrel net log ${name} — go on with: carrel swarm resume ${name}`,
  MISSING_ENV_VAR: (name, agent) =>
    `Keep its key with: carrel secret set ${agent?.key?.secret ?? agent?.anyKey?.[0] ?? 'ANTHROPIC_API_KEY'} < FILE; then: carrel swarm resume ${name}`,
  CONTAINER_OOM: (name) => `Give it more memory: carrel swarm resume ${name} --memory 8g`,
  CONTAINER_TIMEOUT: (name) => `Longer limits go into \`swarm\` of config.yaml; then: carrel swarm resume ${name}`,
};

/** The command that continues after a failure; null: it did not fail, or a script manages it. */
export function hintOf(container: SwarmContainer): string | null {
  const { containerName: name, status, work } = container;
  if (status !== 'failed' || work === null) return null;
  const [code = ''] = /^[A-Z_]+(?=:|$)/.exec(reasonOf(container) ?? '') ?? [];
  const found = Object.hasOwn(hints, code) ? hints[code] : undefined;
  return (
    found?.(name, agentIn(work)) ??
    `Read its messages: carrel swarm logs ${name} — try again: carrel swarm resume ${name}`
  );
}

function installation(agent: AgentSpec | null): string {
  const [program = ''] = agent?.command ?? [];
  const known = Object.hasOwn(agentPackages, program) ? agentPackages[program] : null;
  if (known === null) return 'Install it in the image or root filesystem of the sandbox';
  return `Install it in the image, with .carrel/Dockerfile.sandbox, or on this machine: npm install -g --prefix /usr/local ${known}`;
}

function agentIn({ request }: ContainerWork): AgentSpec | null {
  try {
    return checkAdapterSettings(JSON.parse((request.command as readonly string[])[1]!)).agent;
  } catch {
    return null;
  }
}
