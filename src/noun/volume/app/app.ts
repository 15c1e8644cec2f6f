/**
 * The volumes of a user: named folders that outlive sandboxes. `noun/volume/volume.ts` has the promises about their content.
 *
 * Life cycle: those of each type are made when they are needed, named ones by `create` → mounted by sandboxes → backed up,
 * restored, migrated → removed. What a crash interrupted is finished or undone at the next start, before anything else.
 *
 * - `clean` without names removes only volumes that come back by themselves; a named volume is removed by its name.
 * - A volume that a sandbox mounts is kept. A backup is made first, unless the caller declines it; without one, the
 *   history of a removed memory bank is removed, too.
 * - A user reaches the own volumes. The owner of the installation also sees and backs up those of other users, and alone
 *   changes the shared ones.
 */
import { z } from 'zod';
import { declare, definedDetail, named } from '../../../kernel/server/route.ts';
import { section } from '../../../kernel/settings/section.ts';
import { flag } from '../../../lib/schema/query.ts';
import * as shape from '../api.ts';
import { checkVolumePrefix, defaultVolumePrefix, maxNamedVolumes } from '../model.ts';
import type { UserVolumes } from './user-volumes.ts';

export interface VolumeScope {
  readonly volumes: UserVolumes;
}

const { noun, route } = declare<VolumeScope>();

/** Section `volumes` of config.yaml: names of volumes. */
const volumeConfig = [
  section('volumes', {
    schema: z
      .strictObject({
        prefix: z.string().meta({
          description: 'The first part of the names of volumes.',
          default: defaultVolumePrefix,
          examples: ['lab'],
        }),
      })
      .optional()
      .describe('Volumes.'),
    read: (content, at) => ({
      volumePrefix: at('volumes.prefix', () => checkVolumePrefix(content?.prefix ?? defaultVolumePrefix)),
    }),
    atStart: { volumePrefix: 'volumes.prefix' },
  }),
] as const;

export const volume = noun({
  config: volumeConfig,
  routes: [
    route('GET /v1/volumes', {
      id: 'listVolumes',
      summary: 'The volumes of the user and the shared ones; with `allUsers` those of all users, for the owner',
      query: z.strictObject({ allUsers: flag.optional() }),
      answer: z.array(shape.volumeView),
      act: null,
      handle: async ({ scope, query }) => scope.volumes.list(query.allUsers ?? false),
    }),
    route('GET /v1/volumes/status', {
      id: 'volumeStatus',
      summary: 'The volumes with their sizes and the sandboxes that mount them',
      query: z.strictObject({ allUsers: flag.optional() }),
      answer: z.array(shape.volumeStatusView),
      act: null,
      handle: ({ scope, query }) => scope.volumes.status(query.allUsers ?? false),
    }),
    route('GET /v1/volumes/backups', {
      id: 'listBackups',
      summary: 'Backups of the volumes of the user, oldest first; with `allUsers` those of all users, for the owner',
      query: z.strictObject({ allUsers: flag.optional() }),
      answer: z.array(shape.backupEntryView),
      act: null,
      handle: ({ scope, query }) => scope.volumes.backups(query.allUsers ?? false),
    }),
    route('GET /v1/volumes/work', {
      id: 'volumeWork',
      summary: 'Backups and restores in progress, and how far each is; for the owner those of all users',
      answer: z.array(shape.volumeWorkView),
      act: null,
      handle: async ({ scope }) => scope.volumes.work(),
    }),
    route('POST /v1/volumes', {
      id: 'initVolumes',
      summary:
        'Create the volumes of the user, and named ones; `plugins`: the folder to copy into base-plugins, for the owner',
      body: z.strictObject({
        plugins: z.string().startsWith('/').max(4096).optional(),
        names: z.array(shape.volumeName).max(maxNamedVolumes).optional(),
      }),
      answer: z.array(shape.volumeView),
      act: ({ body }) => ({
        verb: 'volume.init',
        names: body.names ?? [],
        detail: definedDetail({ plugins: body.plugins }),
      }),
      done: (volumes) => ({ targets: volumes.map(({ name }) => ({ name })) }),
      handle: ({ scope, body }) => scope.volumes.initWith(body.plugins, body.names),
    }),
    route('POST /v1/volumes/named', {
      id: 'createVolume',
      summary: 'Create a named volume',
      body: z.strictObject({ name: shape.volumeName }),
      answer: shape.volumeView,
      act: ({ body }) => ({
        verb: 'volume.create',
        names: [body.name],
        words: { 'the name': [body.name] },
      }),
      handle: async ({ scope, body }) => scope.volumes.create(body.name),
    }),
    route('DELETE /v1/volumes/{name}', {
      id: 'removeVolume',
      summary: 'Remove a named volume; a backup is made first unless `backup` is false',
      query: z.strictObject({ backup: flag.optional() }),
      answer: shape.removedVolumeView,
      act: named('volume.remove', true),
      handle: ({ scope, name, query }) => scope.volumes.remove(name, query.backup ?? true),
    }),
    route('POST /v1/volumes/backups/remove', {
      id: 'removeBackup',
      summary: 'Remove a backup that was made here',
      body: z.strictObject({ file: z.string().min(1).max(4096) }),
      answer: z.strictObject({ file: z.string() }),
      act: ({ body }) => ({
        verb: 'volume.backup.remove',
        names: [],
        detail: { file: body.file },
        frees: true,
      }),
      handle: async ({ scope, body }) => ({
        file: await scope.volumes.removeBackup(body.file),
      }),
    }),
    route('POST /v1/volumes/clean', {
      id: 'cleanVolumes',
      summary: 'Remove volumes that no sandbox uses; a backup is made first unless `backup` is false',
      body: shape.cleanRequest,
      answer: shape.cleanView,
      act: ({ body: { names = [], backup = true, dryRun } }) =>
        dryRun ? null : { verb: 'volume.clean', names, detail: { backup }, frees: true },
      done: ({ removed }) => ({ targets: removed.map(({ name }) => ({ name })) }),
      handle: ({ scope, body }) => scope.volumes.clean(body),
    }),
    route('POST /v1/volumes/migrate', {
      id: 'migrateVolumes',
      summary: 'Copy content from volumes with names of an older layout',
      body: z.strictObject({ folder: z.string().startsWith('/').max(4096) }),
      answer: shape.migrateView,
      act: ({ body }) => ({ verb: 'volume.migrate', names: [], detail: { folder: body.folder } }),
      done: ({ migrated }) => ({ targets: migrated.map(({ to }) => ({ name: to })) }),
      handle: ({ scope, body }) => scope.volumes.migrate(body.folder),
    }),
    route('POST /v1/volumes/{name}/backup', {
      id: 'backupVolume',
      summary: 'Write a backup of a volume into the home of the installation',
      answer: shape.backupView,
      act: named('volume.backup'),
      handle: ({ scope, name }) => scope.volumes.backup(name),
    }),
    route('POST /v1/volumes/restore', {
      id: 'restoreVolume',
      summary: 'Replace the content of a volume by that of a backup',
      body: z.strictObject({ file: z.string().min(1).max(4096) }),
      answer: shape.restoreVolumeView,
      act: ({ body }) => ({ verb: 'volume.restore', names: [], detail: { file: body.file } }),
      done: ({ volume }) => ({ targets: [{ name: volume.name }] }),
      handle: ({ scope, body }) => scope.volumes.restore(body.file),
    }),
  ],
  recover: ({ volumes }) => volumes.recover(),
});
