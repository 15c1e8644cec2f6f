/** Finds or creates the sandbox of a project and an agent, and starts the agent's terminal program in it. */
import { basename } from 'node:path';
import { Exclusive } from '../../../lib/flow/exclusive.ts';
import { Fault } from '../../../model/fault.ts';
import { credentialEnv } from '../../network/model/credential.ts';
import { credentialUrl } from '../../network/network.ts';
import type { SandboxRequest } from '../../sandbox/api.ts';
import { hasEnded, type Sandbox, type SandboxSpec } from '../../sandbox/model.ts';
import type { Sandboxes } from '../../sandbox/sandbox.ts';
import { agentGrantFields } from '../../table.ts';
import { requireRoute } from '../agent.ts';
import type { AgentRequest, AgentView, OpenedAgent } from '../api.ts';
import { terminalAgentLabel } from '../model/agent.ts';
import { terminalAgents } from '../model/table.ts';
import { keyOf, type ProgramNeeds, programOf, requireProgramAndKey, terminalSpecOf } from './readiness.ts';
import { terminalCommand } from './terminal-command.ts';

export interface TerminalAgentParts {
  readonly sandboxes: Pick<
    Sandboxes,
    'project' | 'rows' | 'current' | 'create' | 'check' | 'change' | 'start' | 'view'
  >;
  readonly needs: ProgramNeeds;
}

export class TerminalAgents {
  readonly #parts: TerminalAgentParts;
  readonly #turns = new Exclusive();

  constructor(parts: TerminalAgentParts) {
    this.#parts = parts;
  }

  list(): AgentView[] {
    const { needs } = this.#parts;
    return Object.keys(terminalAgents).map((name) => ({
      name,
      program: programOf(name, undefined, needs)?.path ?? null,
      version: needs.installedVersion(name),
      key: keyOf(name, needs),
    }));
  }

  /**
   * Requests for the same project and agent run one after the other, so that two of them do not create two sandboxes.
   */
  open(request: AgentRequest): Promise<OpenedAgent> {
    const project = this.#parts.sandboxes.project(request.project);
    return this.#turns.run(`${request.agent} ${project}`, () => this.#open({ ...request, project }));
  }

  async #open(request: AgentRequest): Promise<OpenedAgent> {
    const newest = request.new ? undefined : this.#newest(request);
    if (newest === undefined) return this.#create(request);
    const { value } = await this.#parts.sandboxes.current(newest.name, newest.id);
    requireUnchanged(value, request);
    return hasEnded(value.status)
      ? this.#start(value, request)
      : { sandbox: this.#parts.sandboxes.view(value), how: 'running' };
  }

  #newest({ agent, project }: AgentRequest): Sandbox | undefined {
    return this.#parts.sandboxes
      .rows()
      .map(({ value }) => value)
      .filter(({ spec }) => spec.project === project && spec.labels[terminalAgentLabel] === agent)
      .filter(({ spec }) => spec.desired !== 'removed')
      .sort((one, other) => (one.createdAt < other.createdAt ? -1 : 1))
      .at(-1);
  }

  async #create(agentRequest: AgentRequest): Promise<OpenedAgent> {
    const { sandboxes, needs } = this.#parts;
    const { agent } = agentRequest;
    const spec = terminalSpecOf(agent);
    const base = baseRequest(agentRequest, spec.env ?? {});
    const { program, grants } = requireProgramAndKey(agentRequest, base, needs);
    const request: SandboxRequest = { ...base, ...grants, ...program.request };
    const checked = sandboxes.check(request);
    requireRoute(agent, spec, request, checked.network?.allow ?? [], needs);
    const command = terminalCommand(spec, program.path, agentRequest.args ?? [], variablesOf(checked));
    const name = freeName(agent, basename(checked.project!), sandboxes.rows());
    return { sandbox: await sandboxes.create({ ...request, name, command }), how: 'created' };
  }

  /** Uses the size of this terminal and the arguments of this request. */
  async #start({ name, id, spec }: Sandbox, { args, agent, terminal }: AgentRequest): Promise<OpenedAgent> {
    const { sandboxes } = this.#parts;
    const [, , program] = spec.command as [string, string, string];
    const command =
      args === undefined ? spec.command : terminalCommand(terminalSpecOf(agent), program, args, variablesOf(spec));
    sandboxes.change(name, id, { command, terminal });
    return { sandbox: await sandboxes.start(name, true), how: 'started' };
  }
}

function baseRequest(request: AgentRequest, env: Readonly<Record<string, string>>): SandboxRequest {
  const { agent, project, projectSeen, terminal, engine, network, services, author } = request;
  return {
    ...{ project, mode: 'overlay', stdin: true, console: true, terminal },
    ...(projectSeen === undefined ? {} : { projectSeen }),
    ...(engine === undefined ? {} : { engine }),
    ...(network === undefined ? {} : { network }),
    ...(services === undefined ? {} : { services }),
    ...grantsOf(request),
    ...(author === undefined ? {} : { author }),
    env: { ...env, ...request.env },
    labels: { [terminalAgentLabel]: agent },
  };
}

function grantsOf(request: AgentRequest): Partial<SandboxRequest> {
  const fields = agentGrantFields.filter((field) => request[field] !== undefined);
  return Object.fromEntries(fields.map((field) => [field, request[field]]));
}

/** A free name made of the project's folder and the agent, so that lists and reviews say what the sandbox is for. */
function freeName(agent: string, folder: string, taken: readonly { readonly name: string }[]): string {
  const word = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9_.-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '');
  const stem = word === '' ? agent : `${word.slice(0, 40)}-${agent}`;
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? stem : `${stem}-${number}`;
    if (!taken.some((one) => one.name === name)) return name;
  }
}

/** The environment variables as the program sees them. */
function variablesOf({ credentials = [], env }: SandboxSpec): Record<string, string> {
  return Object.assign({}, ...credentials.map((one, at) => credentialEnv(one, credentialUrl(at))), env);
}

/** Refuses other options for an existing sandbox, and other arguments for a running agent. */
function requireUnchanged({ name, status, spec }: Sandbox, request: AgentRequest): void {
  const { agent, args, engine, network, services, env } = request;
  const hasOptions = [network, services, env, ...Object.values(grantsOf(request))].some((one) => one !== undefined);
  const isOther = hasOptions || (engine !== undefined && engine !== spec.engine);
  const changed = args !== undefined && !hasEnded(status) ? 'arguments' : isOther ? 'options' : null;
  if (changed === null) return;
  throw new Fault('conflict', `${name} works on this project already, and its ${changed} cannot change now`, {
    hint: `carrel ${agent} goes to it; carrel ${agent} --new begins another one beside it`,
  });
}
