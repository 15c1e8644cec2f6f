/**
 * A sandbox: one isolated place where processes run.
 *
 * The record has two halves with one writer each. `spec` is what was asked for and is written by the API alone;
 * `status` is what is so and is written by the reconciler alone. States:
 *
 *   pending → running → completed | failed | stopped → (removed)
 *   stopped | failed | completed → pending    only by `start`, which raises `spec.attempt`
 *
 * An end state never changes until somebody says `start`.
 */
import type { Author } from './author.ts';
import type { CredentialGrant } from './credential.ts';
import { Fault } from './fault.ts';
import type { Limits } from './limits.ts';
import type { NetworkSpec } from './network.ts';
import type { ServiceGrant } from './service.ts';

export const sandboxStates = ['pending', 'running', 'completed', 'failed', 'stopped'] as const;
export type SandboxState = (typeof sandboxStates)[number];
export type Desired = 'running' | 'stopped' | 'removed';
export const workspaceModes = ['overlay', 'bind', 'clone', 'none'] as const;
export type WorkspaceMode = (typeof workspaceModes)[number];

/** How a working copy is kept: changes apart from their base by the kernel, or as a whole second tree where it cannot. */
export type WorkspaceKind = 'overlay' | 'copy';

/** A tree that nobody changes, to make working copies on; forks share it. */
export interface FrozenBase {
  readonly id: string;
  readonly from: 'copy' | 'clone';
}

export const engineNames = ['local', 'docker'] as const;
export type EngineName = (typeof engineNames)[number];

/** OCI runtimes, in the order we prefer them. */
export const runtimeNames = ['crun', 'runc', 'runsc', 'sysbox-runc'] as const;
export type RuntimeName = (typeof runtimeNames)[number];

export interface VolumeMount {
  readonly name: string;
  readonly target: string;
  readonly readonly: boolean;
}

export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

export interface SandboxSpec {
  readonly user: string;
  readonly engine: EngineName;
  /** The OCI runtime by name; null leaves the choice to the engine. */
  readonly runtime: string | null;
  /** Host folder of the project, or null. */
  readonly project: string | null;
  readonly mode: WorkspaceMode;
  /** Null where the agent has no working copy of its own: without a project, and in mode bind. */
  readonly workspace: WorkspaceKind | null;
  /** Null: working copies are made on the project as it is. */
  readonly base: FrozenBase | null;
  /** Empty: no command of its own, the sandbox idles until stopped. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Who git says commits inside, where nothing inside says otherwise. */
  readonly author?: Author | null;
  readonly limits: Limits;
  /** The limits the user named. */
  readonly demanded: readonly (keyof Limits)[];
  /** A limit the user named that cannot be enforced refuses the start; otherwise it is advisory. */
  readonly strict?: boolean;
  /** Volumes it has besides its home. */
  readonly volumes?: readonly VolumeMount[];
  /** Its home is that of the user itself, and not laid over it. */
  readonly sharedHome?: boolean;
  /** Names of secrets it is given. */
  readonly secrets?: readonly string[];
  /** What is added for it outside, never inside. */
  readonly credentials?: readonly CredentialGrant[];
  /** Services of this installation that it may call. */
  readonly services?: readonly ServiceGrant[];
  /** What it may reach, and from where it can be reached; left out in records from before there was any. */
  readonly network?: NetworkSpec;
  /** An image to use as root filesystem, on engines that have images. */
  readonly image?: string | null;
  /** What that name stood for when the sandbox was created: it is made of nothing else, however often it starts. */
  readonly imageId?: string | null;
  /** Where that image says its programs are. */
  readonly imagePath?: string | null;
  /** A directory or tarball to use as root filesystem instead of the host's /usr. */
  readonly rootfs: string | null;
  readonly labels: Readonly<Record<string, string>>;
  /** Keep stdin open for an attached client. */
  readonly stdin: boolean;
  /** Its command has a terminal, of this size until a client says another; left out or null: it has pipes. */
  readonly terminal?: TerminalSize | null;
  readonly autoRemove: boolean;
  readonly desired: Desired;
  /** Why it is to stop, where no user asked for it. */
  readonly stopReason?: string | null;
  readonly graceMs: number;
  /** Counts the times somebody asked for a start. */
  readonly attempt: number;
}

export interface SandboxStatus {
  readonly state: SandboxState;
  readonly reason: string | null;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The attempt this status speaks of. Behind `spec.attempt` until the reconciler takes the new one up. */
  readonly attempt: number;
  /** How the engine finds the sandbox again; null until it was launched. */
  readonly handle: unknown;
  /** The runtime that was chosen; null until launched. */
  readonly runtime: string | null;
  /** Limits that the machine cannot enforce. */
  readonly advisory: readonly (keyof Limits)[];
  /** It ended with changes that nobody has taken over, so it does not remove itself. */
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

const endStates: readonly SandboxState[] = ['completed', 'failed', 'stopped'];

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
