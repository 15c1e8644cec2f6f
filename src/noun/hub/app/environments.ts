/**
 * Environments: sandboxes that tools of the hub created for a project, each with a working copy of its own. A caller reaches those of the
 * projects that it may name, and no other sandbox of the user: a sandbox with secrets, credentials, services, volumes, rooms or memory is no environment.
 */

import type { Audit, Detail } from '../../../kernel/audit/audit.ts';
import type { Process } from '../../../kernel/engine/engine.ts';
import { endWith } from '../../../kernel/server/route.ts';
import { firstBytes } from '../../../lib/process/collect.ts';
import type { EncodedJson } from '../../../lib/wire/encoded-json.ts';
import { Fault } from '../../../model/fault.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { hostFolder, type Project } from '../../project/model/project.ts';
import type { SandboxRequest, SandboxView } from '../../sandbox/api.ts';
import type { ExecScope } from '../../sandbox/app/exec.ts';
import { hasEnded, type Sandbox, type SandboxSpec } from '../../sandbox/model.ts';
import { agentGrantFields } from '../../table.ts';
import type { ApplyRequest, ApplyView, ChangeView, SnapshotView } from '../../workspace/api.ts';
import type { ReviewOrder } from '../../workspace/app/reviews.ts';
import { idlePath, type RunCommand, type RunResult, spokePath } from '../model/spoke.ts';
import { type SpokeCallOptions, SpokeConnection } from '../spoke/spoke.ts';
import type { CallRoute } from './call-route.ts';
import { endOf } from './spoke/program-end.ts';
import { retryAfterEnd } from './spoke/retry-after-end.ts';

export interface EnvironmentParts {
  readonly sandboxes: {
    rows(): readonly { readonly value: Sandbox }[];
    current(name: string): Promise<{ readonly value: Sandbox }>;
    show(name: string): Promise<SandboxView>;
    /** Waits until the sandbox has ended. */
    wait(name: string, signal: AbortSignal): Promise<unknown>;
    /** The spec that `create` would record. */
    check(request: SandboxRequest): SandboxSpec;
    checkCommand(env: RunCommand['env'], command: RunCommand['command']): void;
  };
  readonly reviews: {
    changes(name: string, order: ReviewOrder, signal: AbortSignal): Promise<{ readonly changes: EncodedJson }>;
    diff(name: string, order: ReviewOrder, signal: AbortSignal): AsyncGenerator<Buffer>;
  };
  readonly call: CallRoute;
  /** Starts a program in a running sandbox. */
  exec(sandbox: Sandbox, command: readonly string[]): Promise<Process>;
  readonly commands: Pick<ExecScope['commands'], 'starts' | 'ended'>;
  readonly audit: Pick<Audit, 'begin'>;
  readonly user: string;
  /** The caller, for the audit log. */
  readonly by: Detail;
}

export interface NewEnvironment {
  readonly name?: string | undefined;
  readonly image?: string | undefined;
  readonly network?: 'none' | string[] | undefined;
}

interface Removal {
  readonly force: boolean;
  readonly dryRun: boolean;
}

export const environmentLabel = 'carrel.environment';
const maxPerProject = 100;
const maxDiffBytes = 64 * 1024;
/** Parsing more would block the event loop. */
const maxListBytes = 4 * 1024 * 1024;

export class Environments {
  readonly #parts: EnvironmentParts;

  constructor(parts: EnvironmentParts) {
    this.#parts = parts;
  }

  names(project: Project): string[] {
    const own = this.#parts.sandboxes.rows().filter(({ value }) => isEnvironment(value, project));
    return own.map(({ value }) => value.name).sort();
  }

  find(project: Project, name: string): Sandbox {
    const found = this.#parts.sandboxes.rows().find(({ value }) => value.name === name);
    if (found && isEnvironment(found.value, project)) return found.value;
    throw new Fault('not_found', `project ${project.id} has no environment ${checkSandboxName(name)}`, {
      hint: 'environment_list lists them.',
    });
  }

  show(project: Project, name: string): Promise<SandboxView> {
    return this.#parts.sandboxes.show(this.find(project, name).name);
  }

  async create(project: Project, { name, image, network }: NewEnvironment, signal: AbortSignal): Promise<SandboxView> {
    const { call } = this.#parts;
    this.#requireRoom(project);
    const request: SandboxRequest = {
      ...(name === undefined ? {} : { name: ownName(project, name) }),
      ...(image === undefined ? {} : { image, engine: 'docker' as const }),
      ...{ project: hostFolder(project), mode: 'overlay' as const, command: [idlePath] },
      labels: { [environmentLabel]: project.id },
    };
    if (network !== undefined) this.#requireWithin(request, network);
    const body = { ...request, ...(network === undefined ? {} : { network }) };
    const view = await call('POST /v1/sandboxes', { body });
    if (!signal.aborted) return view;
    await this.#remove(view, { force: true, dryRun: false });
    throw new Fault('cancelled', 'the call was cancelled');
  }

  #requireRoom(project: Project): void {
    if (this.names(project).length < maxPerProject) return;
    throw new Fault('exhausted', `project ${project.id} has ${maxPerProject} environments`, {
      hint: 'Remove some with environment_remove.',
    });
  }

  /** The caller may be an agent: it chooses among the hosts that the user allows for this project, and adds none. */
  #requireWithin(request: SandboxRequest, network: NonNullable<NewEnvironment['network']>): void {
    const { sandboxes } = this.#parts;
    const allowed = rulesOf(sandboxes.check(request));
    const wider = rulesOf(sandboxes.check({ ...request, network })).find((rule) => !allowed.includes(rule));
    if (wider === undefined) return;
    throw new Fault(
      'denied',
      `${wider} is not among the hosts that environments of ${request.labels![environmentLabel]} may reach`,
      {
        hint: 'The user allows it for one environment with carrel net allow NAME HOST, or for all under `network` in config.yaml.',
        data: { field: 'network' },
      },
    );
  }

  /** Starts the environment first if it has ended. */
  async run(project: Project, name: string, request: RunCommand, options: SpokeCallOptions): Promise<RunResult> {
    const { sandboxes, commands } = this.#parts;
    const started = async () => {
      const running = await this.#running(project, name);
      return { sandbox: running, program: await this.#exec(running, request) };
    };
    const { sandbox, program } = await retryAfterEnd(started, (signal) => sandboxes.wait(name, signal));
    const connection = new SpokeConnection(program, `environment ${name}`, endOf(program));
    try {
      return await connection.call('command/run', request, options);
    } finally {
      connection.close();
      await commands.ended(sandbox);
    }
  }

  /** Starts the program of the hub, with the same checks and audit act as the route for commands. */
  async #exec(sandbox: Sandbox, { env, command }: RunCommand): Promise<Process> {
    const { audit, user, by, sandboxes, commands, exec } = this.#parts;
    const targets = [{ name: sandbox.name, id: sandbox.id }];
    const openAct = audit.begin({ user, as: null, verb: 'sandbox.exec', targets, peer: null });
    try {
      sandboxes.checkCommand(env, command);
      await commands.starts(sandbox);
      const program = await exec(sandbox, [spokePath]);
      openAct.end('ok', { detail: { program: command[0] ?? '', ...by } });
      return program;
    } catch (error) {
      endWith(openAct, error);
      throw error;
    }
  }

  async #running(project: Project, name: string): Promise<Sandbox> {
    const { sandboxes, call } = this.#parts;
    this.find(project, name);
    const { value } = await sandboxes.current(name);
    if (hasEnded(value.status)) await call('POST /v1/sandboxes/{name}/start', { path: { name } });
    await sandboxes.current(name);
    return this.find(project, name);
  }

  async changes(project: Project, name: string, paths: string[], signal: AbortSignal): Promise<ChangeView[]> {
    this.find(project, name);
    const { bytes } = (await this.#parts.reviews.changes(name, { paths }, signal)).changes;
    if (bytes.length <= maxListBytes) return JSON.parse(Buffer.from(bytes).toString('utf8')) as ChangeView[];
    throw new Fault('exhausted', `${name} has too many changes for one answer`, { hint: 'Name paths.' });
  }

  /** The beginning of the unified diff. */
  async diff(
    project: Project,
    name: string,
    paths: string[],
    signal: AbortSignal,
  ): Promise<{ text: string; truncated: boolean }> {
    this.find(project, name);
    const bytes = await firstBytes(this.#parts.reviews.diff(name, { paths }, signal), maxDiffBytes + 1);
    return { text: bytes.toString('utf8', 0, maxDiffBytes), truncated: bytes.length > maxDiffBytes };
  }

  snapshot(project: Project, name: string, label: string | undefined): Promise<SnapshotView> {
    const path = { name: this.find(project, name).name };
    return this.#parts.call('POST /v1/sandboxes/{name}/snapshots', { path, body: { label } });
  }

  async fork(project: Project, name: string, as: string | undefined): Promise<SandboxView> {
    this.find(project, name);
    this.#requireRoom(project);
    const names = as === undefined ? [] : [ownName(project, as)];
    const [fork] = await this.#parts.call('POST /v1/sandboxes/{name}/fork', { path: { name }, body: { names } });
    return fork!;
  }

  apply(project: Project, request: ApplyRequest): Promise<ApplyView> {
    for (const name of request.names) this.find(project, name);
    return this.#parts.call('POST /v1/apply', { body: request });
  }

  async remove(project: Project, name: string, how: Removal): Promise<void> {
    await this.#remove(this.find(project, name), how);
  }

  async #remove({ name, id }: Pick<Sandbox, 'name' | 'id'>, how: Removal): Promise<void> {
    const query = { ...how, id, running: true };
    await this.#parts.call('DELETE /v1/sandboxes/{name}', { path: { name }, query });
  }
}

function isEnvironment({ spec }: Sandbox, { id, folder }: Project): boolean {
  const { labels, project, mode, desired, secrets, credentials, services } = spec;
  if (labels[environmentLabel] !== id || project !== folder || mode !== 'overlay') return false;
  if (desired === 'removed') return false;
  // Shares are not checked: they may come with the project.
  const grants = agentGrantFields.map((field) => spec[field]);
  return [secrets, credentials, services, ...grants].every((given = []) => given.length === 0);
}

/** Adds the project's id in front: a conflict of names then reveals nothing about sandboxes of other projects. */
function ownName({ id }: Project, name: string): string {
  return checkSandboxName(name.startsWith(`${id}-`) ? name : `${id}-${name}`);
}

function rulesOf({ network }: SandboxSpec): readonly string[] {
  return network?.allow ?? [];
}
