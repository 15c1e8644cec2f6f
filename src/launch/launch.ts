/**
 * What surrounds a sandbox: each hook contributes mounts and environment, and may have something to prepare on the host
 * before the sandbox starts. `surroundings` is pure, so that anybody may ask what a sandbox will see; `prepare` is
 * repeat-safe, since a crash may make it run again.
 */
import type { Launch } from '../engine/engine.ts';
import type { Mount } from '../model/mount.ts';
import type { Sandbox } from '../model/sandbox.ts';
import { adapter } from './adapter.ts';
import { credentials } from './credentials.ts';
import { folders } from './folders.ts';
import { identity } from './identity.ts';
import { commandOf, network, networkEnv } from './network.ts';
import { prepareRoot } from './root.ts';
import { secrets } from './secrets.ts';
import { services } from './services.ts';
import { system } from './system.ts';
import { volumes } from './volumes.ts';
import { workspace } from './workspace.ts';

export interface Surroundings {
  readonly mounts?: readonly Mount[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** Where things of this installation are. */
export interface Places {
  readonly home: string;
  /** Short and stable: tells this installation's traces on the machine from others'. */
  readonly installation: string;
  /** The folder of one sandbox; everything in it goes when the sandbox is removed. */
  sandbox(id: string): string;
  /** What it keeps over stop and start: replaced whole when a snapshot is restored. */
  state(id: string): string;
  /** The home of a user, which homes in sandboxes are laid over. */
  userHome(user: string): string;
  volume(name: string): string;
  base(id: string): string;
  /** The kernel can lay folders over each other there. */
  readonly overlays: boolean;
  /** We are root in a user namespace only. */
  readonly rootless: boolean;
  readonly images: string;
  /** Copies of what runs inside, one folder a version. */
  readonly tools: string;
}

export interface Hook {
  surroundings(sandbox: Sandbox, places: Places): Surroundings;
  prepare?(sandbox: Sandbox, places: Places): void;
}

/** Later hooks win over earlier ones; what the user asked for wins over all. */
const hooks: readonly Hook[] = [
  system,
  folders,
  identity,
  network,
  secrets,
  credentials,
  services,
  volumes,
  workspace,
  adapter,
];

export function describe(sandbox: Sandbox, places: Places): Required<Surroundings> {
  const parts = hooks.map((hook) => hook.surroundings(sandbox, places));
  return {
    mounts: parts.flatMap((part) => part.mounts ?? []),
    env: Object.assign({}, ...parts.map((part) => part.env ?? {}), sandbox.spec.env, networkEnv(sandbox.spec)),
    cwd: parts.map((part) => part.cwd).findLast((cwd) => cwd !== undefined) ?? '/',
  };
}

export interface LaunchOrder {
  /** Numbers the user. */
  readonly slot: number;
  readonly console: boolean;
  readonly held: Launch['held'];
}

export async function composeLaunch(sandbox: Sandbox, order: LaunchOrder, places: Places): Promise<Launch> {
  for (const hook of hooks) hook.prepare?.(sandbox, places);
  const { spec } = sandbox;
  return {
    ...describe(sandbox, places),
    id: sandbox.id,
    hostname: sandbox.name,
    ...order,
    runtime: spec.runtime,
    root: spec.image
      ? { kind: 'image', reference: spec.imageId ?? spec.image }
      : await prepareRoot(spec.rootfs, places),
    command: commandOf(spec),
    limits: spec.limits,
    demanded: spec.strict ? spec.demanded : [],
    stdin: spec.stdin,
    terminal: spec.terminal ?? null,
  };
}
