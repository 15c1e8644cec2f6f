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
import type { Places } from '../../../kernel/home/places.ts';
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

/** Facts about a start that are not in the record. */
export interface LaunchOptions {
  /** The number of the user. */
  readonly slot: number;
  readonly console: boolean;
  readonly held: Launch['held'];
}

export const metadataPath = '/run/carrel/metadata';

export const systemFolders = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
