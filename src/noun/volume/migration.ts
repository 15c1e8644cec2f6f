/**
 * Migrates old volumes: their content is copied beside the new volume, and then replaces its empty folder at once.
 *
 * Before the replacement, a note file records the inode of the new folder, so that after a crash it is known whether
 * the replacement happened. An old volume is read and never changed. The record of the new one says where its content
 * came from.
 */
import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { syncAround } from '../../lib/file/disk.ts';
import { readIfThere, syncFolder, writeWhole } from '../../lib/file/file.ts';
import { crashPoint } from '../../lib/flow/crash-point.ts';
import { asFault, Fault, isFault } from '../../model/fault.ts';
import { isEmptyFolder, isPlainFolder, ownTree, removeDevices, swap, withStaged } from './folder.ts';
import { isShared, type MigratedFrom, nameOfKey, userHash, type Volume, type VolumeKey } from './model.ts';
import { type OldName, type OldVolume, parseOldName } from './old-volume.ts';
import type { VolumeActor, VolumeContext } from './volume.ts';

export interface Migrated {
  /** The old volume. */
  readonly from: OldVolume;
  /** The name of the new one. */
  readonly to: string;
  /** `already`: migrated earlier. `conflict`: the new one has content or is in use, and was not changed. */
  readonly outcome: 'migrated' | 'already' | 'conflict' | 'failed';
  readonly reason: string | null;
}

/** An old volume that the user may take over. */
export interface ClaimedVolume extends OldName {
  readonly from: OldVolume;
  readonly to: string;
  readonly user: string;
}

export interface MigrationSteps {
  provide(key: VolumeKey, user: string, at: string): Volume;
  refuseMounted(name: string): void;
}

interface Note extends MigratedFrom {
  /** The inode of the new folder. The device number is not noted, as it may change at a reboot. */
  readonly inode: string;
}

export class Migration {
  readonly #context: VolumeContext;
  readonly #steps: MigrationSteps;

  constructor(context: VolumeContext, steps: MigrationSteps) {
    this.#context = context;
    this.#steps = steps;
  }

  /**
   * The old volumes that the user may take over: first those with the hash of the user's name or uid, then, for the
   * owner of the installation, those that all users shared.
   */
  claims({ user, uid = null, isOwner }: VolumeActor, found: readonly OldVolume[]): readonly ClaimedVolume[] {
    const mine = [userHash(user), ...(uid === null ? [] : [userHash(String(uid))])];
    const claims = found.flatMap((from) => {
      const old = parseOldName(from.name, this.#context.prefix);
      if (!old || !(old.hash === null ? isOwner : mine.includes(old.hash))) return [];
      return [{ ...old, from, to: nameOfKey(this.#context.prefix, old, user), user }];
    });
    return [...claims.filter(({ hash }) => hash !== null), ...claims.filter(({ hash }) => hash === null)];
  }

  async bring(claim: ClaimedVolume, at: string): Promise<Migrated> {
    const { from, to } = claim;
    try {
      const { migratedFrom } = this.#steps.provide(claim, claim.user, at);
      if (migratedFrom?.folder === from.folder) return { from, to, outcome: 'already', reason: null };
      await this.#bring(claim, at);
      return { from, to, outcome: 'migrated', reason: null };
    } catch (error) {
      const outcome = isFault(error, 'conflict') ? 'conflict' : 'failed';
      return { from, to, outcome, reason: asFault(error).message };
    }
  }

  async #bring(claim: ClaimedVolume, at: string): Promise<void> {
    const { from, to } = claim;
    const { folder } = this.#context;
    if (!isPlainFolder(from.folder)) throw new Fault('invalid', `${from.folder} is not a folder`);
    this.#refuseUsed(to);
    await withStaged(folder, to, async (staged) => {
      await this.#copy(claim, staged);
      crashPoint('migrate:copied');
      const migratedFrom = { name: from.name, folder: from.folder, at };
      this.#refuseUsed(to);
      try {
        writeWhole(this.#notePath(to), JSON.stringify({ ...migratedFrom, inode: inodeOf(staged) } satisfies Note));
        crashPoint('migrate:noted');
        swap(folder, staged, to);
        crashPoint('migrate:swapped');
        this.#record(to, migratedFrom);
        crashPoint('migrate:recorded');
      } finally {
        rmSync(this.#notePath(to), { force: true });
      }
    });
  }

  /** The files belonged to the agent inside, under the ids of the old installation. The copies belong to this user. */
  async #copy({ from, into, type, user }: ClaimedVolume, staged: string): Promise<void> {
    await this.#context.copyFolder(from.folder, join(staged, into));
    await removeDevices(staged);
    chmodSync(staged, 0o700);
    await ownTree(staged, isShared(type) ? null : this.#context.agentOf(user));
    await syncAround(staged);
  }

  #refuseUsed(name: string): void {
    this.#steps.refuseMounted(name);
    if (isEmptyFolder(join(this.#context.folder, name))) return;
    throw new Fault('conflict', `${name} has content already`, { hint: 'Back it up and clean it first.' });
  }

  #record(name: string, migratedFrom: MigratedFrom): void {
    const { records } = this.#context;
    const volume = records.get(name);
    if (!volume) throw new Fault('internal', `${name} has no record`);
    const data = { from: migratedFrom.name };
    records.put({ ...volume, migratedFrom }, { at: migratedFrom.at, type: 'volume.migrated', subject: name, data });
  }

  #notePath(name: string): string {
    return join(this.#context.folder, `${notePrefix}${name}`);
  }

  /** Records a migration if the folder that its note names is in place. */
  recover(): void {
    const { folder } = this.#context;
    const left = readdirSync(folder).filter((entry) => entry.startsWith(notePrefix));
    for (const entry of left) {
      if (!entry.endsWith('.tmp')) this.#recoverOne(entry.slice(notePrefix.length));
      rmSync(join(folder, entry), { force: true });
    }
    if (left.length > 0) syncFolder(folder);
  }

  #recoverOne(name: string): void {
    const live = join(this.#context.folder, name);
    const { inode, ...migratedFrom } = JSON.parse(readIfThere(this.#notePath(name))!) as Note;
    if (isPlainFolder(live) && inodeOf(live) === inode) this.#record(name, migratedFrom);
  }
}

const notePrefix = '.migrate-';

function inodeOf(path: string): string {
  return String(lstatSync(path, { bigint: true }).ino);
}
