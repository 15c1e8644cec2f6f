/** The agents of sessions, and what a sandbox needs for each of them. */

import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import { type AgentNeeds, keyGrants, requireProgram, requireRoute, withKeyIn } from '../../agent/agent.ts';
import { type AcpSpec, type AgentSpec, sessionAgentLabel } from '../../agent/model/agent.ts';
import { sessionAgents } from '../../agent/model/table.ts';
import { idlePath } from '../../hub/model/spoke.ts';
import type { PresetName } from '../../network/model/credential.ts';
import type { SandboxRequest } from '../../sandbox/api.ts';
import type { Sandbox, SandboxSpec } from '../../sandbox/model.ts';

export interface AgentParts extends AgentNeeds {
  readonly config: { readonly agents: Readonly<Record<string, AgentSpec>> };
}

const defaultAgent = 'claude';

export function agentNamed(name: string | undefined): string {
  return name ?? defaultAgent;
}

function agentsOf({ agents }: AgentParts['config']): Record<string, AcpSpec> {
  const own = Object.entries(agents).filter((one): one is [string, AcpSpec] => one[1].kind === 'acp');
  return { ...sessionAgents, ...Object.fromEntries(own) };
}

/** The agents as the agent API of a sandbox gets them, each with the key that the sandbox has. */
export function agentsIn({ spec }: Pick<Sandbox, 'spec'>, config: AgentParts['config']): Record<string, AcpSpec> {
  const { env, secrets = [], credentials = [] } = spec;
  const hasCredential = (preset: PresetName) => credentials.some((one) => one.preset === preset);
  const given = { env, secrets: [...secrets], hasCredential };
  const all = Object.entries(agentsOf(config));
  return Object.fromEntries(all.map(([name, agent]) => [name, withKeyIn(agent, given)]));
}

export function defaultIn({ spec }: Pick<Sandbox, 'spec'>): string {
  return agentNamed(spec.labels[sessionAgentLabel]);
}

function agentOf(name: string, config: AgentParts['config']): AcpSpec {
  const known = agentsOf(config);
  if (Object.hasOwn(known, name)) return known[name]!;
  throw new Fault('not_found', `there is no agent ${printable(name)} for sessions`, {
    hint: `There are ${Object.keys(known).join(', ')}; more go into \`agents\` of config.yaml, with \`kind: acp\`.`,
  });
}

/** The request that creates a sandbox for sessions with this agent. */
export function requestFor(
  name: string | undefined,
  wanted: Partial<SandboxRequest>,
  parts: AgentParts,
  check: (request: SandboxRequest) => SandboxSpec,
): SandboxRequest {
  const agentName = agentNamed(name);
  const agent = agentOf(agentName, parts.config);
  requireProgram(agentName, agent, wanted, parts);
  const labels = { ...wanted.labels, [sessionAgentLabel]: agentName };
  const request: SandboxRequest = {
    ...{ mode: 'overlay', command: [idlePath], ...wanted, labels },
    ...keyGrants(agentName, agent, wanted, parts),
  };
  requireRoute(agentName, agent, request, check(request).network?.allow ?? [], parts);
  return request;
}

/** An existing sandbox gets no new grants, so the agent is refused here if it would fail inside. */
export function requireIn({ name, spec }: Sandbox, agentName: string, parts: AgentParts): void {
  const agent = agentOf(agentName, parts.config);
  const has = asRequest(spec);
  requireProgram(agentName, agent, has, parts);
  const missing: string[] = [];
  const addCredential = (preset: string) => {
    missing.push(preset);
    return preset;
  };
  const lacks = keyGrants(agentName, agent, has, { ...parts, addCredential });
  if (Object.keys(lacks).length > 0) throw withoutKey(name, agentName, spec, lacks, missing);
  requireRoute(agentName, agent, has, spec.network?.allow ?? [], parts);
}

function asRequest({ image, rootfs, env, secrets = [], credentials = [] }: SandboxSpec): Partial<SandboxRequest> {
  return {
    ...(image ? { image } : {}),
    ...(rootfs ? { rootfs } : {}),
    ...{ env, secrets: [...secrets], credentials: credentials.map((one) => one.name) },
  };
}

function withoutKey(
  sandbox: string,
  agent: string,
  { project }: SandboxSpec,
  { credentials = [], secrets = [] }: Partial<SandboxRequest>,
  missing: readonly string[],
): Fault {
  const credential = credentials.at(-1);
  const option = credential !== undefined ? `--credential ${credential}` : `--secret ${secrets.at(-1)}`;
  // A credential that does not exist yet is made by `carrel chat`.
  const orCreate = credential !== undefined && missing.includes(credential) ? '' : `, or create it with ${option}`;
  const place = project ?? 'PROJECT';
  return new Fault(
    'conflict',
    `the sandbox ${sandbox} has no key for the agent ${agent}, and gets none while it exists`,
    {
      hint: `Use one that has: carrel chat ${place} --agent ${agent}${orCreate}`,
    },
  );
}
