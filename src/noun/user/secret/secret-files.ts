/** Secrets as files in the home, a folder for each user. */
import { Anchor, within } from '../../../lib/file/anchor.ts';
import { maxNewlineBytes, occurs } from '../../../lib/text/occurrence.ts';
import { Fault } from '../../../model/fault.ts';
import { checkSecretName, checkSecretValue, maxSecretsPerUser, type SecretInfo, secretNamePattern } from '../model.ts';
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
import type { Secrets } from './secret.ts';

/** The open folders of one user. */
interface UserFolders {
  /** The folder of the user, in which values are staged. */
  readonly folder: Anchor;
  readonly secrets: Anchor;
}

export class SecretFiles implements Secrets {
  readonly #home: string;
  readonly #hashOf: (user: string) => string;

  constructor(home: string, hashOf: (user: string) => string) {
    this.#home = home;
    this.#hashOf = hashOf;
  }

  set(user: string, name: string, value: Uint8Array): void {
    checkSecretName(name);
    checkSecretValue(name, value);
    this.#inFolders(user, makePrivate, ({ folder, secrets }) => {
      if (lookAtFile(secrets, name) === null) checkRoom(secrets);
      putWhole(folder, secrets, name, { bytes: value, mode: 0o600 });
    });
  }

  list(user: string): SecretInfo[] {
    return (
      this.#inFolders(user, enterPrivate, ({ secrets }) => names(secrets).map((name) => info(secrets, name))) ?? []
    );
  }

  remove(user: string, name: string): void {
    checkSecretName(name);
    const removed = this.#inFolders(user, enterPrivate, ({ folder, secrets }) => {
      dropUnfinished(folder);
      return lookAtFile(secrets, name) !== null && dropFile(secrets, name);
    });
    if (!removed) throw missing(name);
  }

  read(user: string, name: string): Buffer {
    checkSecretName(name);
    const value = this.#inFolders(user, enterPrivate, ({ secrets }) => readPrivate(secrets, name));
    if (value === null) throw missing(name);
    return value;
  }

  containing(user: string, ...texts: readonly string[]): string | null {
    const maxBytes = Math.max(0, ...texts.map((text) => Buffer.byteLength(text))) + maxNewlineBytes;
    const candidates = this.list(user).filter(({ sizeBytes }) => sizeBytes <= maxBytes);
    const isIn = (value: Buffer) => texts.some((text) => occurs(value, text));
    return candidates.find(({ name }) => isIn(this.read(user, name)))?.name ?? null;
  }

  #inFolders<T>(user: string, enter: Enter, work: (folders: UserFolders) => T): T | null {
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

/** The owner file is written before the first secret, so secrets without one belong to no known user. */
function checkOwner(folder: Anchor, user: string): void {
  const owner = readPrivate(folder, ownerFile);
  if (owner === null && folder.look('secrets') !== null)
    throw new Fault('corrupt', `the folder of secrets for ${user} has no owner file`);
  if (owner !== null && owner.toString() !== user)
    throw new Fault('denied', `the folder of secrets for ${user} belongs to another user`, {
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
