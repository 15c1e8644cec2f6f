/** The volumes of one user, for the API. */
import { existsSync } from 'node:fs';
import { basename, join, posix } from 'node:path';
import type { Home } from '../../../kernel/home/home.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { realHostPath } from '../../../lib/file/host-path.ts';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import type { Actor } from '../../../model/user.ts';
import { requireOwner } from '../../../model/user.ts';
import { bankFolder } from '../../memory/model/bank.ts';
import type { SandboxRequest } from '../../sandbox/api.ts';
import type { Sandbox } from '../../sandbox/model.ts';
import type {
  BackupEntryView,
  BackupView,
  CleanView,
  MigrateView,
  RemovedVolumeView,
  RestoreVolumeView,
  VolumeStatusView,
  VolumeView,
  VolumeWorkView,
} from '../api.ts';
import type { Migrated } from '../migration.ts';
import { checkVolumeLabel, isShared, isVolumeType, type Volume, type VolumeMount, volumeName } from '../model.ts';
import { findOldVolumes, findUnknown } from '../old-volume.ts';
import type { Cleaned, VolumeActor, VolumeRecords } from '../volume.ts';
import type { Volumes } from '../volumes.ts';

export interface VolumeParts {
  readonly volumes: Volumes;
  readonly home: Pick<Home, 'backups' | 'rootless'>;
  readonly prefix: string;
  /** All users, the owner first. */
  readonly users: () => readonly { readonly name: string; readonly uid: number | null }[];
  readonly now: () => string;
  /** Removes the history of the memory bank of a user, because it contains the contents of the bank. */
  readonly eraseBank: (user: string) => Promise<void>;
}

const staleAfterDays = 30;

export class UserVolumes {
  readonly #parts: VolumeParts;
  readonly #actor: Actor;

  constructor(actor: Actor, parts: VolumeParts) {
    this.#actor = actor;
    this.#parts = parts;
  }

  /** Finishes what an earlier daemon began, for all users. */
  recover(): Promise<void> {
    return this.#parts.volumes.recover(this.#parts.now());
  }

  get #volumeActor(): VolumeActor {
    return { user: this.#actor.name, isOwner: this.#actor.isOwner };
  }

  init(): VolumeView[] {
    return this.#parts.volumes.init(this.#actor.name, this.#parts.now()).map(view);
  }

  /** The shared plugins come from a folder of the machine, which only the owner of the installation can name. */
  async initWith(plugins: string | undefined, labels: readonly string[] = []): Promise<VolumeView[]> {
    const { user } = this.#volumeActor;
    this.#parts.volumes.ensure(user, labels, this.#parts.now());
    if (plugins === undefined) return this.init();
    requireOwner(this.#actor);
    const { volumes, now } = this.#parts;
    await volumes.fill(this.#volumeActor, 'base-plugins', realHostPath(plugins, []), now());
    return this.init();
  }

  create(label: string): VolumeView {
    return view(this.#parts.volumes.create(this.#actor.name, label, this.#parts.now()));
  }

  /** Removes only named volumes: `clean` is for the others, which come back by themselves, empty. */
  async remove(reference: string, backup: boolean): Promise<RemovedVolumeView> {
    const { volumes, now } = this.#parts;
    const { name, type, label, user } = volumes.find(this.#volumeActor, reference);
    if (user !== this.#actor.name || label === undefined) throw notNamed(reference, type);
    const [cleaned] = await volumes.clean(this.#volumeActor, [name], backup, now());
    if (cleaned?.kept) throw new Fault('conflict', `${label} was not removed: ${cleaned.kept}`);
    return { name, label, backup: cleaned?.backup?.file ?? null };
  }

  removeBackup(file: string): Promise<string> {
    return this.#parts.volumes.removeBackup(this.#volumeActor, file);
  }

  list(all: boolean): VolumeView[] {
    return this.#parts.volumes.list(this.#volumeActor, all).map(view);
  }

  status(all: boolean): Promise<VolumeStatusView[]> {
    const { volumes, now } = this.#parts;
    return Promise.all(
      volumes.list(this.#volumeActor, all).map(async ({ name }) => {
        const status = await volumes.status(this.#volumeActor, name, now(), staleAfterDays);
        const { sizeBytes, mountedBy, staleDays } = status;
        return { ...view(status), sizeBytes, mountedBy: [...mountedBy], stale: staleDays !== null };
      }),
    );
  }

  async clean({ names, backup = true, dryRun = false }: CleanOrder): Promise<CleanView> {
    const { volumes, now } = this.#parts;
    const mine = (await this.status(false)).filter(({ user }) => user === this.#actor.name);
    const selected =
      names === undefined ? mine.filter(({ label }) => label === null) : names.map((name) => this.#among(mine, name));
    const free = selected.filter(({ mountedBy }) => mountedBy.length === 0);
    const kept = selected.filter(({ mountedBy }) => mountedBy.length > 0);
    const removed = free.map(({ name, sizeBytes }) => ({ name, sizeBytes, backup: null as string | null }));
    const used = kept.map(({ name, mountedBy }) => ({ name, mountedBy }));
    if (dryRun) return { removed, kept: used };
    const toClean = removed.map(({ name }) => name);
    const cleaned = await volumes.clean(this.#volumeActor, toClean, backup, now());
    if (!backup) await this.#eraseBankIn(cleaned);
    return {
      removed: removed.flatMap((one) => {
        const done = cleaned.find(({ name }) => name === one.name);
        return done && done.kept === null ? [{ ...one, backup: done.backup?.file ?? null }] : [];
      }),
      kept: [...used, ...cleaned.flatMap(({ name, kept: why }) => (why === null ? [] : [{ name, mountedBy: [why] }]))],
    };
  }

  /** If the bank is removed without a backup, its history is removed, too, because it has the contents. */
  async #eraseBankIn(cleaned: readonly Cleaned[]): Promise<void> {
    const { prefix, eraseBank } = this.#parts;
    const bank = volumeName(prefix, 'memory-bank', this.#actor.name);
    if (cleaned.some(({ name, kept }) => name === bank && kept === null)) await eraseBank(this.#actor.name);
  }

  #among(mine: readonly VolumeStatusView[], reference: string): VolumeStatusView {
    const found = mine.find(({ name, type, label }) => name === reference || (label ?? type) === reference);
    if (!found) throw new Fault('not_found', `no volume ${reference}`, { hint: 'Look with: carrel volume ls' });
    return found;
  }

  async backup(reference: string): Promise<BackupView> {
    const { volumes, home, now } = this.#parts;
    const { name } = volumes.find(this.#volumeActor, reference);
    const at = now();
    const file = join(home.backups, `${name}-${at.replace(/[^0-9TZ]/g, '')}.tar`);
    const written = await volumes.backup(this.#volumeActor, name, file, at);
    return { name, file: written.file, sizeBytes: written.bytes, notes: [...written.notes] };
  }

  work(): VolumeWorkView[] {
    return this.#parts.volumes.work(this.#volumeActor).map(({ name, type, label, file, doing, bytes, totalBytes }) => {
      return { name, type, label, file: basename(file), doing, bytes, totalBytes };
    });
  }

  async backups(all: boolean): Promise<BackupEntryView[]> {
    const found = await this.#parts.volumes.backups(this.#volumeActor, all);
    return found.map(({ file, volume, type, label = null, owner, backedUpAt, bytes }) => {
      return { file, name: volume, type, label, user: owner, createdAt: backedUpAt, sizeBytes: bytes };
    });
  }

  /** Only the owner of the installation can name files of the machine; others name backups that were made here. */
  async restore(path: string): Promise<RestoreVolumeView> {
    const { volumes, home, now } = this.#parts;
    const named = this.#actor.isOwner && path.includes('/');
    const file = named ? archivePath(path) : join(home.backups, basename(path));
    const { volume, notes } = await volumes.restore(this.#volumeActor, file, now());
    return { volume: view(volume), notes: [...notes] };
  }

  /** Migrates the volumes of all users: each goes to the user whose hash is in its name. */
  async migrate(folder: string): Promise<MigrateView> {
    requireOwner(this.#actor);
    const { volumes, prefix, users, now } = this.#parts;
    const source = realHostPath(folder, []);
    const found = findOldVolumes(source, prefix);
    const results: Migrated[] = [];
    for (const { name: user, uid } of users()) {
      const isOwner = user === this.#actor.name;
      results.push(...(await volumes.migrate({ user, uid, isOwner }, found, now())));
    }
    const done = results.filter(({ outcome }) => outcome === 'migrated' || outcome === 'already');
    const left = results.filter(({ outcome }) => outcome === 'conflict' || outcome === 'failed');
    const unclaimed = found.filter((one) => !results.some(({ from }) => from === one));
    return {
      migrated: done.map(({ from, to, outcome }) => ({ from: from.name, to, already: outcome === 'already' })),
      left: [
        ...left.map(({ from, reason }) => ({ from: from.name, reason: reason ?? 'it could not be copied' })),
        ...unclaimed.map(({ name }) => ({ from: name, reason: unclaimedReason })),
        ...findUnknown(source, prefix).map(({ name, reason }) => ({ from: name, reason })),
      ],
    };
  }

  /** Resolves the volumes that a sandbox asks for to volumes that this user may have. */
  mounts(requests: SandboxRequest['volumes'] = []): VolumeMount[] {
    this.check(requests);
    if (requests.length > 0) this.init();
    return requests.map(({ volume, target, readonly = false }) => {
      const resolved = this.#parts.volumes.resolve(this.#actor.name, { volume, target, readonly });
      if (resolved.volume.type === 'home') throw homeIsThere();
      const isBank = resolved.volume.type === 'memory-bank' && target === bankFolder;
      return { name: resolved.volume.name, target, readonly: resolved.readonly, ...(isBank ? { isBank } : {}) };
    });
  }

  /** Refuses a name that no volume of this user can have. */
  checkDeclared(name: string): void {
    if (!isVolumeType(name)) checkVolumeLabel(name, this.#parts.prefix);
  }

  requireMountable(): void {
    if (!this.#parts.home.rootless || this.#actor.isOwner) return;
    throw new Fault('unsupported', 'without root, only the owner of the installation can have volumes mounted', {
      hint: 'Run the daemon as root.',
    });
  }

  /** Refuses what can be refused before any volume is made. */
  check(requests: SandboxRequest['volumes'] = []): void {
    if (requests.length > 0) this.requireMountable();
    for (const [index, { volume, target }] of requests.entries()) {
      refuseReserved(target);
      if (requests.findIndex((other) => other.target === target) < index)
        throw new Fault('invalid', `two volumes cannot both be at ${printable(target)}`);
      if (volume === 'home') throw homeIsThere();
    }
  }
}

/** Paths that sandboxes need for their own files. */
const reserved =
  /^\/($|\.|(bin|dev|etc|lib|lib32|lib64|opt\/carrel|proc|run|sbin|sys|tmp|usr|workspace)(\/|$)|home\/agent$|home$|opt$)/;

function refuseReserved(target: string): void {
  if (!reserved.test(posix.normalize(target)) && posix.normalize(target) === target) return;
  throw new Fault('invalid', `no volume can be mounted at ${printable(target)}`, {
    hint: 'Choose a place of its own, such as /data/memory-bank.',
  });
}

function homeIsThere(): Fault {
  return new Fault('invalid', 'every sandbox has the home of its user, at /home/agent', {
    hint: 'To change what all of them see there: carrel home shell',
  });
}

function archivePath(path: string): string {
  if (existsSync(path)) return realHostPath(path, []);
  throw new Fault('not_found', `${printable(path)} does not exist`, {
    hint: 'Backups that were made here: carrel volume ls --backups',
  });
}

const unclaimedReason = 'no user here has this hash; carrel user add NAME for the user it was made for, then again';

function notNamed(reference: string, type: Volume['type']): Fault {
  if (type === 'named')
    return new Fault('not_found', `no volume ${reference}`, { hint: 'Look with: carrel volume ls' });
  return new Fault('conflict', `${reference} is not a named volume`, {
    hint: isShared(type) ? 'Volumes that all users share stay.' : `Its content goes with: carrel volume clean ${type}`,
  });
}

interface CleanOrder {
  readonly names?: readonly string[] | undefined;
  readonly backup?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
}

function view({ name, type, label, user, createdAt, lastUsedAt, migratedFrom }: Volume): VolumeView {
  return { name, type, label: label ?? null, user, createdAt, lastUsedAt, migratedFrom: migratedFrom?.name ?? null };
}

export function volumeRecords(store: Store): VolumeRecords {
  return {
    get: (name) => store.get('volume', name)?.value ?? null,
    list: () => store.list('volume').map(({ value }) => value),
    put: (value, event) => {
      const row = store.get('volume', value.name);
      const lazy = event.type === 'volume.used';
      if (row) store.update(row, value, event, { lazy });
      else {
        const { name, user } = value;
        store.insert({ kind: 'volume', id: name, owner: user ?? '', name, value }, event);
      }
    },
    remove: (name, event) => {
      const row = store.get('volume', name);
      if (row) store.remove(row, event);
    },
  };
}

/** Sandboxes that have a volume now or may get it again: all sandboxes of a user have the home. */
export function mountedBy(store: Store, prefix: string): (name: string) => string[] {
  return (name) =>
    store
      .list('sandbox')
      .filter(({ value: { spec } }) => volumesOf(spec.user, spec.volumes, prefix).includes(name))
      .map((row) => `${row.owner}/${row.name}`);
}

/** Makes the volumes of the sandbox's user, and records the use of those that it mounts. */
export function useVolumes(
  volumes: Pick<Volumes, 'init' | 'touch'>,
  { spec }: Sandbox,
  prefix: string,
  at: string,
): void {
  volumes.init(spec.user, at);
  for (const name of volumesOf(spec.user, spec.volumes, prefix)) volumes.touch(name, at);
}

export function volumesOf(user: string, mounts: readonly VolumeMount[] | undefined, prefix: string): string[] {
  return [volumeName(prefix, 'home', user), ...(mounts ?? []).map(({ name }) => name)];
}
