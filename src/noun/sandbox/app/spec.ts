/** Turns a request into the spec that is recorded: everything is resolved and checked, nothing is done yet. */
import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync } from 'node:fs';
import { engineSockets } from '../../../kernel/engine/docker/connection/socket.ts';
import { isInside, projectFolder, realHostPath } from '../../../lib/file/host-path.ts';
import { Fault, isFault } from '../../../model/fault.ts';
import { type Limits, resolveLimits } from '../../../model/limits.ts';
import { printable } from '../../../model/name.ts';
import { type Granted, grantTable } from '../../grant-table.ts';
import type { CredentialGrant } from '../../network/model/credential.ts';
import type { PortForward } from '../../network/model/network.ts';
import type { DeclaredService, ServiceGrant } from '../../network/model/service.ts';
import type { SandboxRequest } from '../api.ts';
import type { FrozenBase, SandboxSpec, WorkspaceKind } from '../model.ts';
import type { Granting } from '../part/part.ts';

/** An image that the owner allows, resolved. */
export interface SpecImage {
  readonly name: string;
  readonly id: string;
  /** The PATH that is set in the image. */
  readonly path: string | null;
}

/** The settings that decide about a spec. */
export interface SpecConfig {
  readonly runtime: string | null;
  readonly limits: Limits;
  readonly services: readonly DeclaredService[];
  readonly dockerSocket: string | null;
}

export interface SpecParts {
  readonly config: SpecConfig;
  /** The rules to record; `project`: the folder whose file is read, null if an agent can write it. */
  readonly networkRules: (requested: SandboxRequest['network'], project: string | null) => string[];
  /** The ports of this machine for the sandbox, chosen already. */
  readonly ports: readonly PortForward[];
  readonly owner: string;
  /** The account on this machine whose folders may be projects; null: none may, `any`: all may. */
  readonly account: number | null | 'any';
  readonly home: string;
  /** The image that the request names, resolved. */
  readonly image: SpecImage | null;
  readonly granting: Granting<SandboxRequest>;
  /** Refuses a user whose home cannot be given to a sandbox itself. */
  readonly requireHome: () => void;
  readonly credentialGrants: (names: readonly string[]) => CredentialGrant[];
  /** Folders of the host that sandboxes can write. */
  readonly open: () => readonly string[];
  /** Why no working copy can be laid over a folder; null when it can. */
  readonly overlayRefusal: (lower: string) => string | null;
}

export const defaultGraceMs = 10_000;

export function composeSpec(request: SandboxRequest, parts: SpecParts): SandboxSpec {
  const { config, owner } = parts;
  const { limits = {} } = request;
  const workspace = composeWorkspace(request, parts);
  return {
    user: owner,
    engine: request.engine ?? 'local',
    runtime: request.runtime ?? config.runtime,
    ...workspace,
    command: request.command ?? [],
    ...(request.cwd === undefined ? {} : { cwd: request.cwd }),
    env: request.env ?? {},
    author: request.author ?? null,
    limits: resolveLimits(limits as Partial<Limits>, config.limits),
    demanded: Object.keys(limits) as (keyof Limits)[],
    strict: request.strict ?? false,
    image: parts.image?.name ?? null,
    imageId: parts.image?.id ?? null,
    imagePath: parts.image?.path ?? null,
    rootfs: request.rootfs === undefined ? null : rootfsOf(request.rootfs, parts),
    program: request.program === undefined ? null : programOf(request.program, parts),
    labels: request.labels ?? {},
    secrets: [...new Set(request.secrets ?? [])],
    credentials: parts.credentialGrants(request.credentials ?? []),
    services: serviceGrants(request.services ?? [], config.services),
    ...grantedTo(request, workspace, parts),
    ...(request.home === 'shared' ? sharedHome(request, parts) : {}),
    network: { allow: rulesOf(request.network, workspace, parts), ports: parts.ports },
    stdin: request.stdin ?? false,
    terminal: request.terminal ?? null,
    autoRemove: request.autoRemove ?? false,
    desired: 'running',
    graceMs: defaultGraceMs,
    attempt: 1,
  };
}

function grantedTo(request: SandboxRequest, { project }: WorkspaceSpec, { granting }: SpecParts): Granted {
  return Object.fromEntries(grantTable.map(([field]) => [field, granting[field](request, project)]));
}

/** Only for a sandbox without a project: what a project brings along must not reach all later sandboxes. */
function sharedHome({ project, mode = 'none' }: SandboxRequest, { requireHome }: SpecParts): { sharedHome: true } {
  if (project !== undefined || mode !== 'none')
    throw new Fault('invalid', 'a sandbox with a project has a home of its own', {
      hint: 'To change the home of all your sandboxes: carrel home shell',
    });
  requireHome();
  return { sharedHome: true };
}

function serviceGrants(names: readonly string[], declared: SpecConfig['services']): ServiceGrant[] {
  return [...new Set(names)].map((name) => {
    const found = declared.find((one) => one.name === name);
    if (found) return { name, port: found.port };
    throw new Fault('not_found', `no service ${name} is declared`, {
      hint: 'The owner of the installation declares it under `services` in config.yaml.',
    });
  });
}

/** The file of a project is not read if an agent can write it, now or once this sandbox runs. */
function rulesOf(requested: SandboxRequest['network'], { project, mode }: WorkspaceSpec, parts: SpecParts): string[] {
  const isWritable = project !== null && (mode === 'bind' || parts.open().some((folder) => isInside(project, folder)));
  return parts.networkRules(requested, isWritable ? null : project);
}

type WorkspaceSpec = Pick<SandboxSpec, 'project' | 'mode' | 'workspace' | 'base'>;

function composeWorkspace(request: SandboxRequest, parts: SpecParts): WorkspaceSpec {
  const mode = request.mode ?? (request.project === undefined ? 'none' : 'overlay');
  if (request.base !== undefined && mode !== 'overlay') {
    throw new Fault('invalid', `only mode overlay has a base, and this is mode ${mode}`);
  }
  if (mode === 'none') return { project: null, mode, workspace: null, base: null };
  if (request.project === undefined) {
    throw new Fault('invalid', `mode ${mode} needs a project`, {
      hint: 'Name its folder, such as: carrel create .',
    });
  }
  const project = seenProject(request, parts);
  if (mode === 'bind') return { project, mode, workspace: null, base: null };
  const workspace = workspaceKind(mode === 'clone' ? parts.home : project, parts);
  const frozen = request.base === 'frozen' || workspace === 'copy';
  return { project, mode, workspace, base: mode === 'clone' ? newBase('clone') : frozen ? newBase('copy') : null };
}

/**
 * A filesystem that was mounted after the daemon started may be hidden from it; then the path is another folder for the
 * daemon, or none.
 */
function seenProject({ project: path, projectSeen }: SandboxRequest, parts: SpecParts): string {
  try {
    const project = ownProject(path!, parts);
    const { dev, ino } = lstatSync(project, { bigint: true });
    if (projectSeen === undefined || projectSeen === `${dev}:${ino}`) return project;
  } catch (error) {
    const isHidden = isFault(error, 'invalid') && projectSeen !== undefined && !existsSync(path!);
    if (!isHidden) throw error;
  }
  throw new Fault('conflict', `${printable(path!)} is another folder for the daemon than for you`, {
    hint: 'A filesystem was mounted since the daemon started: carrel down, and again. Sandboxes go on meanwhile.',
  });
}

/** A user can neither give folders of others to a sandbox nor learn whether they exist. */
export function ownProject(
  path: string,
  { account, owner, home, open, config }: Pick<SpecParts, 'account' | 'owner' | 'home' | 'open' | 'config'>,
): string {
  const named = config.dockerSocket === null ? [] : [config.dockerSocket];
  const rules = { home, open: open(), sockets: [...named, ...engineSockets(process.env)] };
  if (account === 'any') return projectFolder(path, rules);
  try {
    const project = projectFolder(path, rules);
    if (lstatSync(project).uid === account) return project;
  } catch (error) {
    if (!isFault(error)) throw error;
  }
  throw new Fault('denied', `${printable(path)} is not a folder of ${owner}`, {
    hint:
      account === null
        ? 'The owner of the installation can name your account: carrel user add NAME --uid UID'
        : 'Name a folder of your own.',
  });
}

/** The image that the request names, if any. The owner chooses what may run inside, so the name has to be resolved. */
export function requestedImage({ image, engine, rootfs }: SandboxRequest): string | null {
  if (image === undefined) return null;
  if (rootfs !== undefined)
    throw new Fault('invalid', 'a sandbox is made of an image or of a root filesystem, not both', {
      hint: 'Leave out --image or --rootfs.',
    });
  if (engine === 'docker') return image;
  throw new Fault('invalid', 'an image needs an engine that has images', { hint: 'Add --engine docker.' });
}

function rootfsOf(path: string, parts: SpecParts): string {
  if (parts.account !== 'any')
    throw new Fault('denied', 'only the owner of this installation may choose a root filesystem');
  return realHostPath(path, parts.open());
}

/** Only for the owner: the daemon can read files that other users may not. */
function programOf(path: string, parts: SpecParts): string {
  if (parts.account !== 'any')
    throw new Fault('denied', 'only the owner of this installation may mount a program of this machine');
  return realHostPath(path, parts.open());
}

/** Without overlays, the working copy is a second tree, which needs a base to compare with. */
function workspaceKind(lower: string, { overlayRefusal }: SpecParts): WorkspaceKind {
  return overlayRefusal(lower) === null ? 'overlay' : 'copy';
}

function newBase(from: FrozenBase['from']): FrozenBase {
  return { id: randomBytes(8).toString('hex'), from };
}
