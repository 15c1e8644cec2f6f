/** What requests and answers about volumes look like. */

import { z } from 'zod';
import { volumeNamePattern } from './model.ts';

export const volumeName = z.string().regex(volumeNamePattern);

export const volumeView = z.strictObject({
  name: z.string(),
  type: z.string(),
  /** The name that its user gave it; null: it is not a named volume. */
  label: z.string().nullable(),
  /** Null: shared by all. */
  user: z.string().nullable(),
  createdAt: z.string(),
  lastUsedAt: z.string().nullable(),
  migratedFrom: z.string().nullable(),
});

export const volumeStatusView = volumeView.extend({
  /** Null: it could not be measured. */
  sizeBytes: z.int().nullable(),
  /** Names of sandboxes that have it; `user/name` for those of other users. */
  mountedBy: z.array(z.string()),
  /** Unused for a long time: reported, never removed. */
  stale: z.boolean(),
});

export const cleanRequest = z.strictObject({
  /** Left out: every volume of the user but named ones. */
  names: z.array(volumeName).max(100).optional(),
  backup: z.boolean().optional(),
  dryRun: z.boolean().optional(),
});

export const cleanView = z.strictObject({
  /** Volumes that were removed, or would be. */
  removed: z.array(z.strictObject({ name: z.string(), sizeBytes: z.int().nullable(), backup: z.string().nullable() })),
  /** Volumes that are in use, with the sandboxes that use them. */
  kept: z.array(z.strictObject({ name: z.string(), mountedBy: z.array(z.string()) })),
});

export const removedVolumeView = z.strictObject({
  name: z.string(),
  label: z.string(),
  /** The backup of its content; null: none was requested. */
  backup: z.string().nullable(),
});

export const backupView = z.strictObject({
  name: z.string(),
  /** The path of the backup on the daemon's machine. */
  file: z.string(),
  sizeBytes: z.int(),
  /** Files that could not be saved, such as sockets. */
  notes: z.array(z.string()),
});

export const backupEntryView = z.strictObject({
  /** The argument for `volume restore`. */
  file: z.string(),
  name: z.string(),
  type: z.string(),
  label: z.string().nullable(),
  /** Null: shared by all. */
  user: z.string().nullable(),
  createdAt: z.string(),
  sizeBytes: z.int(),
});

/** A backup or a restore that is running. */
export const volumeWorkView = z.strictObject({
  name: z.string(),
  type: z.string(),
  label: z.string().nullable(),
  /** The name of the archive, without its folder. */
  file: z.string(),
  doing: z.enum(['packing', 'checking', 'unpacking']),
  /** Bytes of the archive that are written or read so far. */
  bytes: z.int(),
  /** Null: not known yet. */
  totalBytes: z.int().nullable(),
});

export const restoreVolumeView = z.strictObject({ volume: volumeView, notes: z.array(z.string()) });

export const migrateView = z.strictObject({
  /** `already`: it was migrated earlier, and nothing was done now. */
  migrated: z.array(z.strictObject({ from: z.string(), to: z.string(), already: z.boolean() })),
  /** Volumes that were not migrated, and why. */
  left: z.array(z.strictObject({ from: z.string(), reason: z.string() })),
});

export type VolumeView = z.output<typeof volumeView>;
export type VolumeStatusView = z.output<typeof volumeStatusView>;
export type CleanView = z.output<typeof cleanView>;
export type BackupEntryView = z.output<typeof backupEntryView>;
export type BackupView = z.output<typeof backupView>;
export type MigrateView = z.output<typeof migrateView>;
export type RemovedVolumeView = z.output<typeof removedVolumeView>;
export type VolumeWorkView = z.output<typeof volumeWorkView>;
export type RestoreVolumeView = z.output<typeof restoreVolumeView>;
