/**
 * A sandbox: one isolated place where processes run.
 *
 * The record has two halves with one writer each. `spec` is the desired state and is written by the API alone;
 * `status` is the observed state and is written by the reconciler alone. States:
 *
 *   pending → running → completed | failed | stopped → (removed)
 *   stopped | failed | completed → pending    only by `start`, which raises `spec.attempt`
 *
 * An end state changes only by `start`.
 */

import type { Author } from '../../model/author.ts';
import type { EngineName, TerminalSize } from '../../model/engine.ts';
import { Fault } from '../../model/fault.ts';
import type { Limits } from '../../model/limits.ts';
import type { Granted } from '../grant-table.ts';
import type { CredentialGrant } from '../network/model/credential.ts';
import type { NetworkSpec } from '../network/model/network.ts';
import type { ServiceGrant } from '../network/model/service.ts';

export const sandboxStates = ['pending', 'running', 'completed', 'failed', 'stopped'] as const;
export type SandboxState = (typeof sandboxStates)[number];
export type Desired = 'running' | 'stopped' | 'removed';
export const workspaceModes = ['overlay', 'bind', 'clone', 'none'] as const;
export type WorkspaceMode = (typeof workspaceModes)[number];

/** How a working copy is stored: as an overlay of the kernel, or as a complete second tree if there can be none. */
export type WorkspaceKind = 'overlay' | 'copy';

/** A tree that never changes, as the base of working copies; forks share it. */
export interface FrozenBase {
  readonly id: string;
  readonly from: 'copy' | 'clone';
}

export interface SandboxSpec extends Granted {
  readonly user: string;
  readonly engine: EngineName;
  /** The OCI runtime by name; null leaves the choice to the engine. */
  readonly runtime: string | null;
  /** Host folder of the project, or null. */
  readonly project: string | null;
  readonly mode: WorkspaceMode;
  /** Null: the agent has no working copy, which is the case without a project and in mode bind. */
  readonly workspace: WorkspaceKind | null;
  /** Null: working copies are made on the project as it is. */
  readonly base: FrozenBase | null;
  /** Empty: no command, the sandbox idles until it is stopped. */
  readonly command: readonly string[];
  /** The working directory; absent: /workspace, or the home without a project. */
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  /** The default author of commits inside. */
  readonly author?: Author | null;
  readonly limits: Limits;
  /** The limits that the user set. */
  readonly demanded: readonly (keyof Limits)[];
  /** True: the start is refused if a limit that the user set cannot be enforced; otherwise the limit is advisory. */
  readonly strict?: boolean;
  /**
   * True: the sandbox had a share that was revoked. If the daemon is not root, the sandbox's files belong to the
   * account of the daemon, and agent keeps that id.
   */
  readonly asOwner?: boolean;
  /** True: its home is the user's home volume itself, not an overlay on it. */
  readonly sharedHome?: boolean;
  /** Names of its secrets. */
  readonly secrets?: readonly string[];
  /** Credentials, added to its requests outside, never visible inside. */
  readonly credentials?: readonly CredentialGrant[];
  /** Services of this installation that it may call. */
  readonly services?: readonly ServiceGrant[];
  /** The rules for its network, and the ports at which it can be reached; absent in old records. */
  readonly network?: NetworkSpec;
  /** An image to use as root filesystem, on engines that have images. */
  readonly image?: string | null;
  /** The id that the name had when the sandbox was created: every start uses this image. */
  readonly imageId?: string | null;
  /** The PATH of that image. */
  readonly imagePath?: string | null;
  /** A directory or tarball to use as root filesystem instead of the host's /usr. */
  readonly rootfs: string | null;
  /** A program of the host, or the folder with it, that is mounted read-only for its agent. */
  readonly program?: string | null;
  readonly labels: Readonly<Record<string, string>>;
  /** Keep stdin open for an attached client. */
  readonly stdin: boolean;
  /** The size of the command's terminal until a client resizes it; absent or null: the command has pipes. */
  readonly terminal?: TerminalSize | null;
  readonly autoRemove: boolean;
  readonly desired: Desired;
  /** Why it stops, if no user requested that. */
  readonly stopReason?: string | null;
  readonly graceMs: number;
  /** Counts the requests to start. */
  readonly attempt: number;
}

export interface SandboxStatus {
  readonly state: SandboxState;
  readonly reason: string | null;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The attempt that this status belongs to. Behind `spec.attempt` until the reconciler handles the new one. */
  readonly attempt: number;
  /** The handle by which the engine finds the sandbox again; null: it was not launched. */
  readonly handle: unknown;
  /** The runtime that was chosen; null until launched. */
  readonly runtime: string | null;
  /** Limits that the machine cannot enforce. */
  readonly advisory: readonly (keyof Limits)[];
  /** True: the sandbox ended with changes that were not applied, so it is not removed automatically. */
  readonly kept: boolean;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}

export interface Sandbox {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly spec: SandboxSpec;
  readonly status: SandboxStatus;
}

export const endStates: readonly SandboxState[] = ['completed', 'failed', 'stopped'];

/** The change of the spec that removes these shares and keeps the id that agent had because of them. */
export function withoutShares(
  spec: SandboxSpec,
  isGone: (share: NonNullable<Granted['shares']>[number]) => boolean,
): Partial<SandboxSpec> {
  const { shares = [] } = spec;
  if (!shares.some(isGone)) return {};
  return { shares: shares.filter((one) => !isGone(one)), asOwner: true };
}

/** The folders of the host that a sandbox can write. */
export function boundFolders({ mode, project, shares = [] }: SandboxSpec): string[] {
  const shared = shares.flatMap(({ folder, readonly }) => (readonly ? [] : [folder]));
  return mode === 'bind' && project !== null ? [project, ...shared] : shared;
}

export function hasEnded(status: SandboxStatus): boolean {
  return endStates.includes(status.state);
}

export const initialStatus: SandboxStatus = {
  state: 'pending',
  reason: null,
  exitCode: null,
  signal: null,
  attempt: 1,
  handle: null,
  runtime: null,
  advisory: [],
  kept: false,
  startedAt: null,
  finishedAt: null,
};

const legal: { readonly [state in SandboxState]: readonly SandboxState[] } = {
  pending: ['pending', 'running', 'completed', 'failed', 'stopped'],
  running: ['running', 'completed', 'failed', 'stopped'],
  completed: ['completed'],
  failed: ['failed'],
  stopped: ['stopped'],
};

/** The sandbox with a new status; an illegal transition is refused. A new attempt begins at pending. */
export function withStatus(sandbox: Sandbox, status: SandboxStatus): Sandbox {
  const from = sandbox.status;
  const fresh = status.attempt > from.attempt && status.state === 'pending' && hasEnded(from);
  if (!fresh && !legal[from.state].includes(status.state)) {
    throw new Fault('internal', `sandbox ${sandbox.name}: ${from.state} cannot become ${status.state}`);
  }
  return { ...sandbox, status };
}

export function withSpec(sandbox: Sandbox, change: Partial<SandboxSpec>): Sandbox {
  return { ...sandbox, spec: { ...sandbox.spec, ...change } };
}

/** The texts of a spec, which must not contain secrets. */
export type SpecTexts = Pick<SandboxSpec, 'env' | 'command' | 'labels' | 'secrets' | 'network' | 'volumes'> & {
  readonly name?: string | undefined;
};
