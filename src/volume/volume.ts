/**
 * Volumes: named folders that outlive sandboxes, each with a record that says whose it is.
 *
 *   init, create → (resolve, touch)* → clean        backup, restore, fill and migrate replace or keep all of the content
 *
 * A user has one volume of each type, which is made when it is needed, and named ones, which only `create` and `restore` make: a
 * name that is not known is refused, so a slip of the pen never gives a sandbox an empty volume.
 *
 * A record and a folder of the same name make a volume. Folders lie side by side in one folder that only the daemon enters;
 * what is in them is written by agents and never trusted. Everybody acts as one user: volumes of others are `not_found`,
 * except for the owner of the installation; shared ones are changed by the owner of the installation alone.
 *
 * Promises:
 * - A name whose record has another user is refused, so a hash that two users share gives nobody the other's files.
 * - What a sandbox has mounted is never replaced or removed. That is asked again in the very moment of the change.
 * - What a user's agents wrote or may write belongs to them on the host too, whoever it came from.
 * - Content changes whole or not at all. After a crash at any instant `recover` finishes what was begun or removes its
 *   traces; it runs before anything else does.
 * - Nothing is ever removed because of its age.
 *
 * Faults: `denied` (somebody else's, or not the owner), `not_found`, `conflict` (in use, or the file exists), `invalid` (an
 * archive that is hostile or damaged), `unsupported` (a newer archive), `exhausted` (disk full).
 */
import type { NewEvent } from '../model/event.ts';
import type { Volume } from '../model/volume.ts';
import type { Written } from './archive.ts';
import type { Manifest } from './manifest.ts';

/** The records of all volumes. Writes are durable on return, except those of `volume.used`. */
export interface VolumeRecords {
  get(name: string): Volume | null;
  list(): readonly Volume[];
  /** Inserts, or replaces the one of that name. */
  put(volume: Volume, event: NewEvent): void;
  remove(name: string, event: NewEvent): void;
}

export interface VolumeContext {
  /** Holds the folders of all volumes, and nothing else. */
  readonly folder: string;
  /** Where `clean` puts backups. */
  readonly backups: string;
  readonly prefix: string;
  /** Of Carrel, for archives. */
  readonly version: string;
  readonly records: VolumeRecords;
  /** Who agents of a user are on the host, which owns what is theirs; null where we own everything ourselves. */
  agentOf(user: string): number | null;
  /** Names of the sandboxes that have a volume now or may get it back. */
  mountedBy(name: string): readonly string[];
  /** All of a folder into another, which may exist and be empty: owners, modes, links, holes and marks included. */
  copyFolder(source: string, target: string): Promise<void>;
}

/** On whose behalf something happens. */
export interface Acting {
  readonly user: string;
  /** The number of their account, where it is known. */
  readonly uid?: number | null;
  /** Of the installation. */
  readonly isOwner: boolean;
}

export interface VolumeStatus extends Volume {
  /** Null: the folder is gone. */
  readonly sizeBytes: number | null;
  readonly mountedBy: readonly string[];
  /** Whole days since its last use, where those are as many as asked for; null: not stale. */
  readonly staleDays: number | null;
}

/** A volume as a mount can have it. */
export interface ResolvedVolume {
  readonly volume: Volume;
  readonly source: string;
  readonly target: string;
  readonly readonly: boolean;
}

export interface Cleaned {
  readonly name: string;
  /** Null: none was asked for, or none could be made. */
  readonly backup: Written | null;
  /** Why it is still there; null: it is not. */
  readonly kept: string | null;
}

/** An archive that was made here. */
export interface Backup extends Pick<Manifest, 'volume' | 'type' | 'label' | 'owner' | 'backedUpAt'> {
  readonly file: string;
  readonly bytes: number;
}

export interface Restored {
  readonly volume: Volume;
  readonly notes: readonly string[];
}
