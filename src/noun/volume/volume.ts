/**
 * Volumes: named folders that outlive sandboxes, each with a record that names its user.
 *
 *   init, create → (resolve, touch)* → clean
 *   backup, restore, fill and migrate copy or replace all of the content
 *
 * A user has one volume of each type, which is made when it is needed, and named ones, which only `create` and
 * `restore` make: an unknown name is refused, so a typing mistake never gives a sandbox an empty volume.
 *
 * A record and a folder of the same name make a volume. All folders are in one folder that only the daemon enters;
 * agents write their content, so it is never trusted. Every call acts for one user: volumes of others are `not_found`,
 * except for the owner of the installation; only the owner changes shared ones.
 *
 * Promises:
 * - A name whose record has another user is refused, so two users with the same hash do not get each other's files.
 * - A volume that a sandbox has mounted is never replaced or removed. This is checked again at the moment of the
 *   change.
 * - Files that a user's agents wrote or may write belong to that user on the host too, wherever they came from.
 * - Content is replaced completely or not at all. After a crash at any instant `recover` finishes or undoes the
 *   interrupted operation; it runs before anything else.
 * - Nothing is ever removed because of its age.
 *
 * Faults: `denied` (another user's, or not the owner), `not_found`, `conflict` (in use, or the file exists), `invalid`
 * (a hostile or damaged archive), `unsupported` (a newer archive), `exhausted` (disk full).
 */
import type { NewEvent } from '../../model/event.ts';
import type { Written } from './archive/archive.ts';
import type { Manifest } from './archive/manifest.ts';
import type { Volume } from './model.ts';

/** The records of all volumes. Writes are durable on return, except those of `volume.used`. */
export interface VolumeRecords {
  get(name: string): Volume | null;
  list(): readonly Volume[];
  /** Inserts a record, or replaces that of the same name. */
  put(volume: Volume, event: NewEvent): void;
  remove(name: string, event: NewEvent): void;
}

export interface VolumeContext {
  /** Holds the folders of all volumes, and nothing else. */
  readonly folder: string;
  /** The folder in which `clean` writes backups. */
  readonly backups: string;
  readonly prefix: string;
  /** The version of Carrel, for archives. */
  readonly version: string;
  readonly records: VolumeRecords;
  /** The host id of a user's agents, which owns their files; null: the daemon owns everything. */
  agentOf(user: string): number | null;
  /** Names of the sandboxes that have a volume now or may mount it again. */
  mountedBy(name: string): readonly string[];
  /**
   * Copies a folder into another, which may exist and be empty, with owners, modes, links, holes and extended
   * attributes.
   */
  copyFolder(source: string, target: string): Promise<void>;
  /** Runs `act` while no program of the daemon has files of this volume open. */
  atRest?<T>(name: string, act: () => Promise<T>): Promise<T>;
}

/** The user that a call acts for. */
export interface VolumeActor {
  readonly user: string;
  /** The uid of the user's account, if it is known. */
  readonly uid?: number | null;
  /** Owner of the installation. */
  readonly isOwner: boolean;
}

export interface VolumeStatus extends Volume {
  /** Null: the folder is gone. */
  readonly sizeBytes: number | null;
  readonly mountedBy: readonly string[];
  /** Whole days since the last use, if there are at least as many as the caller asked for; null: not stale. */
  readonly staleDays: number | null;
}

/** A volume as a mount needs it. */
export interface ResolvedVolume {
  readonly volume: Volume;
  readonly source: string;
  readonly target: string;
  readonly readonly: boolean;
}

export interface Cleaned {
  readonly name: string;
  /** Null: no backup was asked for, or none could be made. */
  readonly backup: Written | null;
  /** Why the volume was not removed; null: it was removed. */
  readonly kept: string | null;
}

/** An archive that was made by `clean`. */
export interface Backup extends Pick<Manifest, 'volume' | 'type' | 'label' | 'owner' | 'backedUpAt'> {
  readonly file: string;
  readonly bytes: number;
}

export interface Restored {
  readonly volume: Volume;
  readonly notes: readonly string[];
}
