/**
 * A part is how a noun takes part in a sandbox: mounts, variables, a secret, a network, a working copy. The sandbox knows
 * no noun by name; it calls its parts at each point of its life, in the order of their list:
 *
 *   granted → prepared → (added, the engine starts) → connected → command runs → concluded → … → released
 *
 * - `Granting` turns a request into the values of the spec, or refuses it. Nothing is done yet.
 * - `prepare` runs before each start and makes on the host what the sandbox needs.
 * - `additions` are mounts, variables and the working directory; `command` wraps the command, `commandEnv` completes the
 *   variables of each command inside, those of `exec` included.
 * - `connect` runs when the namespaces exist, before the command begins.
 * - `conclude` runs when the processes have ended, `release` when the sandbox is removed.
 *
 * Promises of a part:
 * - Each call is idempotent: after a crash it runs again for the same sandbox, maybe in another daemon.
 * - `additions`, `command` and `commandEnv` change nothing, so callers may ask at any time what a sandbox will see.
 * - Parts know nothing of each other. They write only below the folders that `Places` names, and in those of their noun.
 * - A Fault of `prepare` or `connect` is the reason why the sandbox does not start. One of `conclude` is reported, and
 *   keeps a sandbox that would be removed at its end. One of `release` does not keep other parts from releasing.
 *
 * A part that needs nothing of the daemon is a constant, listed in `noun/parts.ts`. One that does is constructed with its
 * noun, in `app/part.ts`, and the daemon lists it.
 */
import type { Places } from '../../../kernel/home/places.ts';
import type { ProcessRef } from '../../../lib/process/process.ts';
import type { Limits } from '../../../model/limits.ts';
import type { Mount } from '../../../model/mount.ts';
import type { Granted, GrantField } from '../../grant-table.ts';
import type { DeclaredService } from '../../network/model/service.ts';
import type { Sandbox, SandboxSpec } from '../model.ts';

type Variables = Readonly<Record<string, string>>;

export interface SandboxPart {
  additions?(sandbox: Sandbox, places: Places): PartAdditions;
  /** The command that is started instead of the given one. */
  command?(sandbox: Sandbox, places: Places, command: readonly string[]): readonly string[];
  /** The variables of a command inside; `given`: those that it has besides the variables of the sandbox. */
  commandEnv?(spec: SandboxSpec, given: Variables): Variables;
  /** `enforces` names a limit that this part enforces, so that the engine does not. */
  prepare?(sandbox: Sandbox, places: Places, enforces: (limit: keyof Limits) => void): void | Promise<void>;
  connect?(sandbox: Sandbox, init: () => ProcessRef): Promise<void>;
  /** Servers of this machine at ports of the sandbox's loopback. */
  services?(sandbox: Sandbox): readonly DeclaredService[];
  /** Whether the sandbox must not start without the services of this part. */
  requiresServices?(sandbox: Sandbox): boolean;
  /** `keep` keeps the sandbox in spite of `autoRemove`, because it has work that is nowhere else. */
  conclude?(sandbox: Sandbox, keep: () => void): void | Promise<void>;
  release?(sandbox: Sandbox): void | Promise<void>;
}

/** For each kind of grant, what is recorded for a request. Throws if this user may not have it. */
export type Granting<Request> = {
  readonly [F in GrantField]: (request: Request, project: string | null) => NonNullable<Granted[F]>;
};

/** Where two parts name the same variable, or both name a working directory, the later one counts. */
export interface PartAdditions {
  readonly mounts?: readonly Mount[];
  readonly env?: Variables;
  readonly cwd?: string;
}

/** Work of the agent that is only in the sandbox: files that were not applied, or commits that were not fetched. */
export type Unapplied = 'changes' | 'commits';

/** The folder in which a sandbox finds facts about itself. */
export const metadataPath = '/run/carrel/metadata';

export const systemFolders = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
