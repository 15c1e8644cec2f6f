/** The volumes of an installation as folders; the contract is in volume.ts. */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { syncAround } from '../../lib/file/disk.ts';
import { crashPoint } from '../../lib/flow/crash-point.ts';
import { Exclusive } from '../../lib/flow/exclusive.ts';
import type { NewEvent } from '../../model/event.ts';
import { asFault, Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import { openArchive, unfinishedSuffix, type Written, writeArchive } from './archive/archive.ts';
import { listBackups, removeBackup } from './backup-list.ts';
import * as folders from './folder.ts';
import { inUse } from './in-use.ts';
import { type Migrated, Migration } from './migration.ts';
import {
  checkVolumeLabel,
  isShared,
  isVolumeLabel,
  isVolumeType,
  labelKey,
  maxNamedVolumes,
  nameOfKey,
  type SharedVolumeType,
  typeKey,
  type Volume,
  type VolumeKey,
  type VolumeRequest,
  volumeTypes,
} from './model.ts';
import type { OldVolume } from './old-volume.ts';
import type { Backup, Cleaned, ResolvedVolume, Restored, VolumeActor, VolumeContext, VolumeStatus } from './volume.ts';
import { type VolumeWork, WorkList } from './work-list.ts';

const dayMs = 86_400_000;

export class Volumes {
  readonly #context: VolumeContext;
  readonly #exclusive = new Exclusive();
  readonly #work = new WorkList();
  readonly #migration: Migration;

  constructor(context: VolumeContext) {
    this.#context = context;
    for (const folder of [context.folder, context.backups]) mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#migration = new Migration(context, {
      provide: (key, user, at) => this.#provide(key, user, at),
      refuseMounted: (name) => this.#refuseMounted(name),
    });
  }

  /** The volumes of a user and the shared ones, created if they do not exist yet. */
  init(user: string, at: string): readonly Volume[] {
    return volumeTypes.map((type) => this.#provide(typeKey(type), user, at));
  }

  /** Creates a named volume of the user. */
  create(user: string, label: string, at: string): Volume {
    const key = labelKey(checkVolumeLabel(label, this.#context.prefix));
    if (this.#context.records.get(this.#nameOf(key, user))?.user === user) {
      throw new Fault('conflict', `a volume ${label} exists already`, { hint: 'carrel volume ls shows it.' });
    }
    return this.#provide(key, user, at);
  }

  /** The named volumes of the user, created if they do not exist yet. */
  ensure(user: string, labels: readonly string[], at: string): readonly Volume[] {
    const keys = labels.map((label) => labelKey(checkVolumeLabel(label, this.#context.prefix)));
    return keys.map((key) => this.#provide(key, user, at));
  }

  #nameOf(key: VolumeKey, user: string): string {
    return nameOfKey(this.#context.prefix, key, user);
  }

  /** The volumes of the user and the shared ones; `all`: those of all users, only for the owner. */
  list({ user, isOwner }: VolumeActor, all = false): readonly Volume[] {
    if (all && !isOwner) throw new Fault('denied', 'only the owner of the installation sees the volumes of all users');
    return this.#context.records.list().filter((one) => all || one.user === user || one.user === null);
  }

  /** Finds a volume by its type, label or whole name. */
  find(actor: VolumeActor, reference: string): Volume {
    const { prefix, records } = this.#context;
    const isLabel = isVolumeLabel(reference, prefix);
    const key = isVolumeType(reference) ? typeKey(reference) : isLabel ? labelKey(reference) : null;
    const volume = records.get(key === null ? reference : this.#nameOf(key, actor.user));
    if (volume && (volume.user === null || volume.user === actor.user || actor.isOwner)) return volume;
    throw new Fault('not_found', `no volume ${printable(reference)}`, {
      hint: isLabel
        ? `Look with: carrel volume ls — or make it: carrel volume create ${reference}`
        : 'Look with: carrel volume ls',
    });
  }

  async status(actor: VolumeActor, reference: string, at: string, staleAfterDays: number): Promise<VolumeStatus> {
    const volume = this.find(actor, reference);
    const mountedBy = this.#context.mountedBy(volume.name);
    const idleDays = Math.floor((Date.parse(at) - Date.parse(volume.lastUsedAt ?? volume.createdAt)) / dayMs);
    const staleDays = mountedBy.length === 0 && idleDays >= staleAfterDays ? idleDays : null;
    return { ...volume, sizeBytes: await folders.sizeOf(this.pathOf(volume.name)), mountedBy, staleDays };
  }

  /** Resolves `--volume` for a sandbox of this user. A volume of another user is refused, even to the owner. */
  resolve(user: string, request: VolumeRequest): ResolvedVolume {
    const volume = this.find({ user, isOwner: false }, request.volume);
    if (volume.type === 'chromadb') throw neverMounted(volume.name);
    const source = this.pathOf(volume.name);
    folders.ensureFolder(source, this.#agentOf(volume.user));
    return { volume, source, target: request.target, readonly: request.readonly || isShared(volume.type) };
  }

  /** Records that a sandbox mounts the volume now. */
  touch(name: string, at: string): void {
    const volume = this.#context.records.get(name);
    if (volume) this.#context.records.put({ ...volume, lastUsedAt: at }, event('used', name, at));
  }

  pathOf(name: string): string {
    return join(this.#context.folder, name);
  }

  /** Removes each volume separately: one that cannot be removed stays, and its result has the reason. */
  async clean(
    actor: VolumeActor,
    references: readonly string[],
    backup: boolean,
    at: string,
  ): Promise<readonly Cleaned[]> {
    const volumes = references.map((one) => this.#changeable(actor, one));
    for (const { name } of volumes) this.#refuseMounted(name);
    const cleaned: Cleaned[] = [];
    for (const volume of volumes) cleaned.push(await this.#alone(volume.name, () => this.#clean(volume, backup, at)));
    return cleaned;
  }

  async #clean(volume: Volume, wanted: boolean, at: string): Promise<Cleaned> {
    const { name } = volume;
    let backup: Written | null = null;
    try {
      if (wanted && existsSync(this.pathOf(name))) backup = await this.#backup(volume, this.#backupFile(name, at), at);
      crashPoint('clean:backed-up');
      await folders.removeGone(this.#context.folder, name);
      this.#refuseMounted(name);
      folders.setAside(this.#context.folder, name);
      crashPoint('clean:set-aside');
      await this.#finishClean(name, at);
      return { name, backup, kept: null };
    } catch (error) {
      return { name, backup, kept: asFault(error).message };
    }
  }

  async #finishClean(name: string, at: string): Promise<void> {
    if (this.#context.records.get(name)) this.#context.records.remove(name, event('removed', name, at));
    crashPoint('clean:forgotten');
    await folders.removeGone(this.#context.folder, name);
  }

  #backupFile(name: string, at: string): string {
    return join(this.#context.backups, `${name}-${at.replace(/[^0-9TZ]/g, '')}.tar`);
  }

  /**
   * Works also while a sandbox has the volume mounted: a file that changes meanwhile is in the backup in its old or its
   * new state. `file` must not exist.
   */
  backup(actor: VolumeActor, reference: string, file: string, at: string): Promise<Written> {
    const volume = this.#changeable(actor, reference);
    return this.#alone(volume.name, () => this.#backup(volume, file, at));
  }

  /** The backups that `clean` made of volumes of this user and, for the owner, of shared or (`all`) of all volumes. */
  async backups({ user, isOwner }: VolumeActor, all = false): Promise<readonly Backup[]> {
    if (all && !isOwner) throw new Fault('denied', 'only the owner of the installation sees the backups of all users');
    const backups = await listBackups(this.#context.backups);
    return backups.filter(({ owner }) => all || owner === user || (owner === null && isOwner));
  }

  #backup(volume: Volume, file: string, at: string): Promise<Written> {
    const folder = this.pathOf(volume.name);
    if (!folders.isPlainFolder(folder)) throw new Fault('not_found', `the folder of ${volume.name} is gone`);
    const facts = { volume, at, version: this.#context.version };
    const { label = null } = volume;
    return this.#work.during({ ...volume, label, file, doing: 'packing', totalBytes: null }, (onProgress) =>
      writeArchive(folder, file, facts, onProgress),
    );
  }

  /** Running backups and restores of volumes of the user and of shared ones; for the owner, those of all users. */
  work({ user, isOwner }: VolumeActor): readonly VolumeWork[] {
    return this.#work.all.filter((one) => isOwner || one.user === user || one.user === null);
  }

  /** Restores into the volume of the same type and user, whatever its name was when the backup was made. */
  async restore(actor: VolumeActor, file: string, at: string): Promise<Restored> {
    const archive = await openArchive(file);
    try {
      const { type, label = null, owner } = archive.manifest;
      if (owner !== null && owner !== actor.user) {
        throw new Fault('denied', `this is a backup of a volume of ${printable(owner)}`, {
          hint: `It comes back as that user: carrel --user ${printable(owner)} volume restore FILE`,
        });
      }
      const key = { type, label };
      const work = { ...key, name: this.#nameOf(key, actor.user), user: owner, file, totalBytes: archive.bytes };
      await this.#work.during({ ...work, doing: 'checking' }, (onProgress) => archive.verify(onProgress));
      return await this.#replace(actor, key, at, (staged) =>
        this.#work.during({ ...work, doing: 'unpacking' }, (onProgress) => archive.unpackInto(staged, onProgress)),
      );
    } finally {
      await archive.close();
    }
  }

  /** Replaces the content of a shared volume by that of a folder of the host. */
  fill(actor: VolumeActor, type: SharedVolumeType, source: string, at: string): Promise<Restored> {
    refuseShared(actor, type);
    if (!folders.isPlainFolder(source)) throw new Fault('invalid', `${source} is not a folder`);
    return this.#replace(actor, typeKey(type), at, async (staged) => {
      await this.#context.copyFolder(source, staged);
      await folders.removeDevices(staged);
      return [];
    });
  }

  #replace(
    actor: VolumeActor,
    key: VolumeKey,
    at: string,
    make: (staged: string) => Promise<readonly string[]>,
  ): Promise<Restored> {
    refuseShared(actor, key.type);
    const { folder, records } = this.#context;
    const name = this.#nameOf(key, actor.user);
    return this.#alone(name, () =>
      folders.withStaged(folder, name, async (staged) => {
        const volume = this.#provide(key, actor.user, at);
        this.#refuseMounted(name);
        const notes = await make(staged);
        await folders.ownTree(staged, this.#agentOf(volume.user));
        crashPoint('replace:staged');
        await syncAround(staged);
        this.#refuseMounted(name);
        folders.swap(folder, staged, name);
        crashPoint('replace:swapped');
        records.put(records.get(name) ?? volume, event('replaced', name, at));
        return { volume, notes };
      }),
    );
  }

  /** Migrates each volume separately; one that cannot be migrated is not changed, with a reason. Old volumes stay. */
  async migrate(actor: VolumeActor, found: readonly OldVolume[], at: string): Promise<readonly Migrated[]> {
    const migrated: Migrated[] = [];
    for (const one of this.#migration.claims(actor, found)) {
      migrated.push(await this.#alone(one.to, () => this.#migration.bring(one, at)));
    }
    return migrated;
  }

  /** Called once, before anything else. */
  async recover(at: string): Promise<void> {
    const { folder, backups } = this.#context;
    folders.takeBack(folder);
    this.#migration.recover();
    for (const name of folders.goneNames(folder)) await this.#recoverGone(name, at);
    await folders.removeStaged(folder);
    const unfinished = readdirSync(backups).filter((entry) => entry.endsWith(unfinishedSuffix));
    for (const entry of unfinished) rmSync(join(backups, entry), { force: true });
  }

  async #recoverGone(name: string, at: string): Promise<void> {
    if (existsSync(this.pathOf(name))) await folders.removeGone(this.#context.folder, name);
    else await this.#finishClean(name, at);
  }

  #provide(key: VolumeKey, user: string, at: string): Volume {
    const { records } = this.#context;
    const { type, label } = key;
    const [name, owner] = [this.#nameOf(key, user), isShared(type) ? null : user];
    const known = records.get(name);
    if (known && known.user !== owner) {
      throw new Fault('denied', `${name} belongs to another user whose name has the same hash`, {
        hint: 'One of the two needs another user name.',
      });
    }
    if (!known && label !== null) this.#refuseMore(user);
    folders.ensureFolder(this.pathOf(name), this.#agentOf(owner));
    if (known) return known;
    crashPoint('volume:made');
    const labelled = label === null ? {} : { label };
    const volume = { name, type, ...labelled, user: owner, createdAt: at, lastUsedAt: null, migratedFrom: null };
    records.put(volume, event('created', name, at));
    return volume;
  }

  #refuseMore(user: string): void {
    const named = this.#context.records.list().filter((one) => one.type === 'named' && one.user === user);
    if (named.length < maxNamedVolumes) return;
    throw new Fault('exhausted', `${user} has ${maxNamedVolumes} named volumes already`, {
      hint: 'Remove one with: carrel volume rm NAME',
    });
  }

  #agentOf(user: string | null): number | null {
    return user === null ? null : this.#context.agentOf(user);
  }

  #changeable(actor: VolumeActor, reference: string): Volume {
    const volume = this.find(actor, reference);
    refuseShared(actor, volume.type);
    return volume;
  }

  #alone<T>(name: string, act: () => Promise<T>): Promise<T> {
    return this.#exclusive.run(name, () => this.#context.atRest?.(name, act) ?? act());
  }

  #refuseMounted(name: string): void {
    const users = this.#context.mountedBy(name);
    if (users.length > 0) throw inUse(name, users, this.#context.records.get(name)?.user ?? null);
  }

  /** Removes a backup that `clean` made: one of this user, or, for the owner, of any user. */
  removeBackup(actor: VolumeActor, file: string): Promise<string> {
    return removeBackup(this.#context.backups, actor, file);
  }
}

function neverMounted(name: string): Fault {
  return new Fault('denied', `${name} is mounted into no sandbox`, {
    hint: 'What agents remember goes to memory-bank:/data/memory-bank, other files to a volume of your own: carrel volume create NAME',
  });
}

function refuseShared({ isOwner }: VolumeActor, type: VolumeKey['type']): void {
  if (isShared(type) && !isOwner) throw new Fault('denied', `only the owner of the installation changes ${type}`);
}

function event(what: 'created' | 'used' | 'replaced' | 'removed', name: string, at: string): NewEvent {
  return { at, type: `volume.${what}`, subject: name, data: {} };
}
