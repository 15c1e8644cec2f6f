/**
 * A secret is a value that a user keeps here and that sandboxes of that user are given by name.
 *
 * Life: `set` by its user, from then on it can be listed and granted; `set` again replaces it, also where it was given
 * (see `Given`); `remove` ends it. A sandbox that was granted some finds them as files in `/run/secrets`; what was given
 * goes with the sandbox.
 *
 * Promises:
 * - A value is on disk in one place only, `HOME/users/<hash>/secrets/NAME`, mode 0600 in folders 0700. A sandbox has it
 *   in memory only: mode 0400, readable by agent and not to be changed from inside. Where there is no tmpfs, nothing is
 *   given (`unsupported`).
 * - `set` replaces a value whole or not at all, whatever happens meanwhile.
 * - Nothing here tells a value but `read`; no message of a Fault carries one.
 * - Each user's folder records its owner in full: a hash that matches with another owner is `denied`.
 * - No link is followed, and what is not a plain file of ours is refused (`denied`).
 * - `containing` finds a value as it is, in capitals or not, in base64, hex, percent-encoding and as JSON writes it. It keeps
 *   people from mistakes: what was cut to pieces or encoded twice passes.
 *
 * Not promised: the kernel may swap memory out, so encrypt swap or have none. What `remove` deletes can be recovered from
 * a disk until it is overwritten, so encrypt that too. An agent can do with a value it was given whatever it likes.
 */
import { join } from 'node:path';
import { Anchor, within } from '../lib/anchor.ts';
import { maxNewlineBytes, occurs } from '../lib/occurrence.ts';
import { Fault } from '../model/fault.ts';
import type { Mount } from '../model/mount.ts';
import {
  checkSecretName,
  checkSecretValue,
  maxSecretsPerUser,
  type SecretInfo,
  secretNamePattern,
} from '../model/secret.ts';
import {
  dropFile,
  dropUnfinished,
  type Enter,
  enterPrivate,
  inside,
  lookAtFile,
  makePrivate,
  putWhole,
  readPrivate,
} from './private.ts';

/** On tmpfs wherever there is one at all, and not the daemon's own: it outlives it. */
export const memoryFolder = '/dev/shm';

export function givenFolder(installation: string): string {
  return `carrel-${installation}`;
}

/** What a sandbox was given, as it sees it. Files that change later change there too. */
export function secretsMount(installation: string, id: string): Mount {
  const source = join(memoryFolder, givenFolder(installation), id);
  return { kind: 'bind', source, target: '/run/secrets', readonly: true, own: true };
}

/** The open folders of one user: what is not finished, and what is there. */
interface Place {
  readonly folder: Anchor;
  readonly secrets: Anchor;
}

export class Secrets {
  readonly #home: string;
  readonly #hashOf: (user: string) => string;

  constructor(home: string, hashOf: (user: string) => string) {
    this.#home = home;
    this.#hashOf = hashOf;
  }

  set(user: string, name: string, value: Uint8Array): void {
    checkSecretName(name);
    checkSecretValue(name, value);
    this.#visit(user, makePrivate, ({ folder, secrets }) => {
      if (lookAtFile(secrets, name) === null) checkRoom(secrets);
      putWhole(folder, secrets, name, { bytes: value, mode: 0o600 });
    });
  }

  list(user: string): SecretInfo[] {
    return this.#visit(user, enterPrivate, ({ secrets }) => names(secrets).map((name) => info(secrets, name))) ?? [];
  }

  remove(user: string, name: string): void {
    checkSecretName(name);
    const removed = this.#visit(user, enterPrivate, ({ folder, secrets }) => {
      dropUnfinished(folder);
      return lookAtFile(secrets, name) !== null && dropFile(secrets, name);
    });
    if (!removed) throw missing(name);
  }

  /** The value, for `Given` alone. */
  read(user: string, name: string): Buffer {
    checkSecretName(name);
    const value = this.#visit(user, enterPrivate, ({ secrets }) => readPrivate(secrets, name));
    if (value === null) throw missing(name);
    return value;
  }

  /** The name of a secret whose value is part of this text, or null. */
  containing(user: string, ...texts: readonly string[]): string | null {
    const maxBytes = Math.max(0, ...texts.map((text) => Buffer.byteLength(text))) + maxNewlineBytes;
    const candidates = this.list(user).filter(({ sizeBytes }) => sizeBytes <= maxBytes);
    const isIn = (value: Buffer) => texts.some((text) => occurs(value, text));
    return candidates.find(({ name }) => isIn(this.read(user, name)))?.name ?? null;
  }

  #visit<T>(user: string, enter: Enter, work: (place: Place) => T): T | null {
    return within(Anchor.open(this.#home), (home) =>
      inside(enter(home, 'users'), (users) =>
        inside(enter(users, this.#hashOf(user)), (folder) => {
          checkOwner(folder, user);
          if (enter === makePrivate) claim(folder, user);
          return inside(enter(folder, 'secrets'), (secrets) => work({ folder, secrets }));
        }),
      ),
    );
  }
}

const ownerFile = 'owner';

/** Claimed before there is anything to keep, so secrets without an owner are not ours to hand to the first who asks. */
function checkOwner(folder: Anchor, user: string): void {
  const owner = readPrivate(folder, ownerFile);
  if (owner === null && folder.look('secrets') !== null)
    throw new Fault('corrupt', `nobody knows whose the secrets at the place of ${user} are: its owner file is missing`);
  if (owner !== null && owner.toString() !== user)
    throw new Fault('denied', `the place for secrets of ${user} belongs to another user`, {
      hint: 'Two names of users have the same short hash: rename one.',
    });
}

function claim(folder: Anchor, user: string): void {
  if (folder.look(ownerFile) !== null) return;
  putWhole(folder, folder, ownerFile, { bytes: Buffer.from(user), mode: 0o600 });
}

function names(secrets: Anchor): string[] {
  return secrets
    .list()
    .filter((name) => secretNamePattern.test(name))
    .sort();
}

function info(secrets: Anchor, name: string): SecretInfo {
  const { mtime, size } = lookAtFile(secrets, name)!;
  return { name, updatedAt: mtime.toISOString(), sizeBytes: size };
}

function checkRoom(secrets: Anchor): void {
  if (names(secrets).length < maxSecretsPerUser) return;
  throw new Fault('exhausted', `there are ${maxSecretsPerUser} secrets already`, {
    hint: 'Remove some: carrel secret rm NAME',
  });
}

function missing(name: string): Fault {
  return new Fault('not_found', `there is no secret ${name}`, { hint: 'See: carrel secret ls' });
}
