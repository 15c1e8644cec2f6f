/**
 * Launching turns the record of a sandbox into a `Launch`, the value that an engine starts.
 *
 * Each hook returns mounts, environment and a working directory for its own subject, and may prepare folders or files
 * on the host before the sandbox starts. Hooks know nothing of each other; `compose.ts` lists them and merges what they
 * return.
 *
 * Promises of a hook:
 * - `additions` changes nothing, so callers may ask at any time what a sandbox will see.
 * - `prepare` runs at every start. It is idempotent: after a crash it runs again for the same sandbox.
 * - A hook writes only below the folders that `Places` names.
 */
import type { Launch } from '../../../kernel/engine/engine.ts';
import type { Mount } from '../../../model/mount.ts';
import type { Sandbox } from '../model.ts';

export interface Hook {
  additions(sandbox: Sandbox, places: Places): HookAdditions;
  prepare?(sandbox: Sandbox, places: Places): void;
}

export interface HookAdditions {
  readonly mounts?: readonly Mount[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** The folders of this installation. */
export interface Places {
  readonly home: string;
  /** A short, stable id: part of the names that this installation uses on the machine, so that they are unique. */
  readonly installation: string;
  /** The folder of one sandbox, removed with the sandbox. */
  sandbox(id: string): string;
  /** The folder that a sandbox keeps over stop and start. A restored snapshot replaces it as a whole. */
  state(id: string): string;
  /** The home of a user, the lower layer of homes in sandboxes. */
  userHome(user: string): string;
  volume(name: string): string;
  base(id: string): string;
  /** Whether the kernel can mount overlays on this filesystem. */
  readonly overlays: boolean;
  /** Whether the daemon is root only in a user namespace. */
  readonly rootless: boolean;
  readonly images: string;
  /** Copies of the programs that run inside, one folder per version. */
  readonly tools: string;
}

/** Facts about a start that are not in the record. */
export interface LaunchOptions {
  /** The number of the user. */
  readonly slot: number;
  readonly console: boolean;
  readonly held: Launch['held'];
}
