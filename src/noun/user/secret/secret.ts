/**
 * A secret is a value that a user keeps here and that sandboxes of that user get as a file, by name.
 *
 * Life cycle: `set` by its user, from then on it can be listed and granted; `set` again replaces it, also in running
 * sandboxes (`rotate`); `remove` ends it. A sandbox that was granted secrets finds them as files in `/run/secrets`; they
 * are put there before each start and removed with the sandbox.
 *
 * Promises:
 * - A value is on disk in one place only, `HOME/users/<hash>/secrets/NAME`, mode 0600 in folders 0700. A sandbox has it
 *   in memory only: mode 0400, readable by the agent and read-only inside. Without a tmpfs, sandboxes get no secrets
 *   (`unsupported`).
 * - `set` replaces a value whole or not at all; a crash leaves the old or the new one.
 * - Only `read` returns a value; no message of a Fault has one.
 * - Each user's folder records its owner in full: a hash that matches with another owner is `denied`.
 * - No link is followed, and anything but a plain file of this account is refused (`denied`).
 * - `containing` finds a value as it is, in any case, in base64, hex, percent-encoding and as JSON writes it. It protects
 *   from mistakes only: a value that is cut to pieces or encoded twice passes.
 *
 * Not promised: the kernel may swap memory out, so encrypt swap or have none. What `remove` deletes can be recovered from
 * a disk until it is overwritten, so encrypt that too. An agent can do anything with a value that its sandbox got.
 */
import { join } from 'node:path';
import type { Mount } from '../../../model/mount.ts';
import type { SecretInfo } from '../model.ts';

/** The values of users, on disk. */
export interface Secrets {
  set(user: string, name: string, value: Uint8Array): void;
  list(user: string): SecretInfo[];
  remove(user: string, name: string): void;
  /** The value, for `SandboxSecrets` and the proxy. */
  read(user: string, name: string): Buffer;
  /** The name of a secret whose value is part of one of the texts, or null. */
  containing(user: string, ...texts: readonly string[]): string | null;
}

export interface SecretValue {
  readonly name: string;
  readonly value: Uint8Array;
}

/** The values that sandboxes have, in memory. Every call is idempotent. */
export interface SandboxSecrets {
  /** Called before each start: the sandbox gets exactly these secrets, whatever it had before. */
  put(id: string, secrets: readonly SecretValue[]): void;
  /** Replaces the value in a sandbox that has the secret; false: it does not have it. */
  rotate(id: string, name: string, value: Uint8Array): boolean;
  /** Removes all secrets of a sandbox, also while it runs. */
  remove(id: string): void;
  /** Removes everything but the secrets of known sandboxes: a crash may have left more. */
  sweep(isKnown: (id: string) => boolean): void;
}

/** A tmpfs on every common system, and not in the daemon's mount namespace only: it outlives the daemon. */
export const memoryFolder = '/dev/shm';

export function sandboxesFolder(installation: string): string {
  return `carrel-${installation}`;
}

/** The secrets of a sandbox as a mount. A file that is replaced later is replaced inside at once. */
export function secretsMount(installation: string, id: string): Mount {
  const source = join(memoryFolder, sandboxesFolder(installation), id);
  return { kind: 'bind', source, target: '/run/secrets', readonly: true, own: true };
}
