/** The routes about volumes; part of the table in `routes.ts`. */
import { z } from 'zod';
import { maxNamedVolumes } from '../model/volume.ts';
import { flag } from './query.ts';
import * as volume from './volume.ts';

export const volumeRoutes = {
  'GET /v1/volumes': {
    id: 'listVolumes',
    summary: 'Volumes of whoever asks and those that are shared, or all for the owner',
    query: z.strictObject({ allUsers: flag.optional() }),
    answer: z.array(volume.volumeView),
  },
  'GET /v1/volumes/status': {
    id: 'volumeStatus',
    summary: 'The same, with their sizes and who has them',
    query: z.strictObject({ allUsers: flag.optional() }),
    answer: z.array(volume.volumeStatusView),
  },
  'GET /v1/volumes/backups': {
    id: 'listBackups',
    summary: 'Backups that were made here of the volumes of whoever asks, or of all for the owner; oldest first',
    query: z.strictObject({ allUsers: flag.optional() }),
    answer: z.array(volume.backupEntryView),
  },
  'POST /v1/volumes': {
    id: 'initVolumes',
    summary: 'Make the volumes of a user, and named ones; `plugins`: what base-plugins is to have, for the owner',
    body: z.strictObject({
      plugins: z.string().startsWith('/').max(4096).optional(),
      names: z.array(volume.volumeName).max(maxNamedVolumes).optional(),
    }),
    answer: z.array(volume.volumeView),
  },
  'POST /v1/volumes/named': {
    id: 'createVolume',
    summary: 'Make a named volume',
    body: z.strictObject({ name: volume.volumeName }),
    answer: volume.volumeView,
  },
  'DELETE /v1/volumes/{name}': {
    id: 'removeVolume',
    summary: 'Remove a named volume; a backup is made first unless `backup` is false',
    query: z.strictObject({ backup: flag.optional() }),
    answer: volume.removedVolumeView,
  },
  'POST /v1/volumes/backups/remove': {
    id: 'removeBackup',
    summary: 'Remove a backup that was made here',
    body: z.strictObject({ file: z.string().min(1).max(4096) }),
    answer: z.strictObject({ file: z.string() }),
  },
  'POST /v1/volumes/clean': {
    id: 'cleanVolumes',
    summary: 'Remove volumes that nobody uses; a backup is made first unless told otherwise',
    body: volume.cleanRequest,
    answer: volume.cleanView,
  },
  'POST /v1/volumes/migrate': {
    id: 'migrateVolumes',
    summary: 'Bring content over from volumes of older names',
    body: z.strictObject({ folder: z.string().startsWith('/').max(4096) }),
    answer: volume.migrateView,
  },
  'POST /v1/volumes/{name}/backup': {
    id: 'backupVolume',
    summary: 'One archive of a volume, kept with the installation',
    answer: volume.backupView,
  },
  'POST /v1/volumes/restore': {
    id: 'restoreVolume',
    summary: 'Replace a volume by what an archive of it has',
    body: z.strictObject({ file: z.string().min(1).max(4096) }),
    answer: volume.restoreVolumeView,
  },
} as const;
