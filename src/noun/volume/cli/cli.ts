/** The commands about volumes, and the home that all sandboxes of a user start from. */
import type { Area, CommandEntry, GroupEntry, NameSources, OptionEntry } from '../../../client/cli.ts';
import { engineNames } from '../../../model/engine.ts';
import { volumeNamePattern } from '../model.ts';

const allUsers: OptionEntry = { flags: '--all-users', summary: 'include all users; for the owner' };
const groups: readonly GroupEntry[] = [
  { name: 'volume', summary: 'persistent storage for sandboxes' },
  { name: 'home', summary: 'the home directory that all your sandboxes start from' },
];

const commands: readonly CommandEntry[] = [
  {
    name: 'volume ls',
    summary: 'list volumes',
    options: [allUsers, { flags: '--backups', summary: 'list backups instead, for: carrel volume restore FILE' }],
    examples: ['volume ls', 'volume ls --backups'],
    load: async () => (await import('./ls.ts')).volumeLs,
  },
  {
    name: 'volume init',
    summary: 'create your volumes of all types; existing ones are kept',
    options: [
      {
        flags: '--plugins <FOLDER>',
        field: 'plugins',
        summary: 'directory to copy into the shared volume base-plugins; for the owner',
      },
    ],
    examples: ['volume init'],
    load: async () => (await import('./commands.ts')).volumeInit,
  },
  {
    name: 'volume create',
    summary: 'create a named volume, for: --volume NAME:PATH',
    args: '<NAME>',
    fields: { name: 'NAME' },
    examples: ['volume create cache'],
    load: async () => (await import('./commands.ts')).volumeCreate,
  },
  {
    name: 'volume rm',
    summary: 'remove named volumes, each after a backup; with --backups, remove backups',
    args: '<NAME...>',
    fields: { file: 'NAME' },
    options: [
      { flags: '--no-backup', summary: 'make no backup' },
      { flags: '--backups', summary: 'NAME is a backup as listed by: carrel volume ls --backups' },
    ],
    completes: 'volumes',
    examples: ['volume rm cache'],
    load: async () => (await import('./rm.ts')).volumeRm,
  },
  {
    name: 'volume status',
    summary: 'show size, sandboxes and last use of volumes',
    options: [allUsers],
    examples: ['volume status'],
    load: async () => (await import('./status.ts')).volumeStatus,
  },
  {
    name: 'volume clean',
    summary: 'remove volumes that no sandbox uses (default: those of all types), each after a backup',
    args: '[NAME...]',
    fields: { names: 'NAME' },
    options: [
      { flags: '-y, --yes', summary: 'do not ask for confirmation' },
      { flags: '--no-backup', summary: 'make no backup' },
    ],
    completes: 'volumes',
    examples: ['volume clean cache --yes'],
    load: async () => (await import('./clean.ts')).volumeClean,
  },
  {
    name: 'volume backup',
    summary: 'pack a volume into an archive and print its path',
    args: '<NAME>',
    completes: 'volumes',
    examples: ['volume backup home'],
    load: async () => (await import('./commands.ts')).volumeBackup,
  },
  {
    name: 'volume restore',
    summary: 'replace the content of a volume from an archive',
    args: '<FILE>',
    fields: { file: 'FILE' },
    completes: 'files',
    examples: ['volume restore home.tar.gz'],
    load: async () => (await import('./commands.ts')).volumeRestore,
  },
  {
    name: 'volume migrate',
    summary: 'import volumes that HAL-9000 kept in a directory',
    args: '<FOLDER>',
    fields: { folder: 'FOLDER' },
    completes: 'files',
    examples: ['volume migrate ~/old-volumes'],
    load: async () => (await import('./commands.ts')).volumeMigrate,
  },

  {
    name: 'home shell',
    summary: 'open a shell, or run CMD, in a temporary sandbox that changes the home directory of all your sandboxes',
    usage: '[options] [-- CMD…]',
    options: [
      { flags: '--engine <ENGINE>', field: 'engine', summary: 'engine that runs the sandbox', choices: engineNames },
      {
        flags: '--image <REF>',
        field: 'image',
        summary: 'image as root filesystem, as in run (engine docker)',
        completes: 'images',
      },
      { flags: '--network <RULES>', field: 'network', summary: 'hosts it may connect to, as in run' },
    ],
    takesCommand: true,
    examples: ['home shell', 'home shell -- ls -la'],
    load: async () => (await import('./home-shell.ts')).homeShell,
  },
];

const names: NameSources = {
  volumes: {
    pattern: volumeNamePattern,
    list: async ({ client, signal }) => {
      const volumes = await client.call('GET /v1/volumes', { signal });
      return volumes.map(({ name, label }) => label ?? name);
    },
  },
};

export const volume: Area = { heading: 'Storage and people:', groups, commands, names };
