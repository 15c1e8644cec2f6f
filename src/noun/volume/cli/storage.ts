/** The commands about volumes, secrets, images and users. */

import type { Area, CommandEntry, GroupEntry, NameSources, OptionEntry } from '../../../client/cli.ts';
import { userNamePattern } from '../../../model/user.ts';
import { engineNames } from '../../sandbox/model.ts';
import { secretNamePattern } from '../../user/model.ts';
import { volumeNamePattern } from '../model.ts';

const allUsers: OptionEntry = { flags: '--all-users', summary: 'include all users; for the owner' };

const groups: readonly GroupEntry[] = [
  { name: 'volume', summary: 'persistent storage for sandboxes' },
  { name: 'home', summary: 'the home directory that all your sandboxes start from' },
  { name: 'secret', summary: 'secrets, mounted into sandboxes as files' },
  { name: 'image', summary: 'images for sandboxes on a Docker Engine' },
  { name: 'user', summary: 'users of this installation' },
];

const volumeCommands: readonly CommandEntry[] = [
  {
    name: 'volume ls',
    summary: 'list volumes',
    options: [allUsers, { flags: '--backups', summary: 'list backups instead, for: carrel volume restore FILE' }],
    examples: ['volume ls', 'volume ls --backups'],
    load: () => import('./ls.ts'),
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
    load: () => import('./init.ts'),
  },
  {
    name: 'volume create',
    summary: 'create a named volume, for: --volume NAME:PATH',
    args: '<NAME>',
    fields: { name: 'NAME' },
    examples: ['volume create cache'],
    load: () => import('./create.ts'),
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
    load: () => import('./rm.ts'),
  },
  {
    name: 'volume status',
    summary: 'show size, sandboxes and last use of volumes',
    options: [allUsers],
    examples: ['volume status'],
    load: () => import('./status.ts'),
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
    load: () => import('./clean.ts'),
  },
  {
    name: 'volume backup',
    summary: 'pack a volume into an archive and print its path',
    args: '<NAME>',
    completes: 'volumes',
    examples: ['volume backup home'],
    load: () => import('./backup.ts'),
  },
  {
    name: 'volume restore',
    summary: 'replace the content of a volume from an archive',
    args: '<FILE>',
    fields: { file: 'FILE' },
    completes: 'files',
    examples: ['volume restore home.tar.gz'],
    load: () => import('./restore.ts'),
  },
  {
    name: 'volume migrate',
    summary: 'import volumes that HAL-9000 kept in a directory',
    args: '<FOLDER>',
    fields: { folder: 'FOLDER' },
    completes: 'files',
    examples: ['volume migrate ~/old-volumes'],
    load: () => import('./migrate.ts'),
  },
];

const homeCommands: readonly CommandEntry[] = [
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
    load: () => import('./home-shell.ts'),
  },
];

const secretCommands: readonly CommandEntry[] = [
  {
    name: 'secret set',
    summary: 'store or replace a secret; the value is read from a prompt or from stdin, without a final newline',
    args: '<NAME>',
    fields: { name: 'NAME' },
    options: [{ flags: '--file <FILE>', field: 'valueBase64', summary: 'read the value from a file, byte by byte' }],
    completes: 'secrets',
    examples: ['secret set ANTHROPIC_API_KEY < key', 'secret set ANTHROPIC_API_KEY --file key'],
    load: () => import('../../user/cli/secret-set.ts'),
  },
  {
    name: 'secret ls',
    summary: 'list secrets without their values',
    examples: ['secret ls'],
    load: () => import('../../user/cli/secret-ls.ts'),
  },
  {
    name: 'secret rm',
    summary: 'remove a secret that no sandbox uses',
    args: '<NAME>',
    completes: 'secrets',
    examples: ['secret rm ANTHROPIC_API_KEY'],
    load: () => import('../../user/cli/secret-rm.ts'),
  },
];

const imageCommands: readonly CommandEntry[] = [
  {
    name: 'image build',
    summary: 'build the image of a project if its inputs changed; without PROJECT, the base image',
    args: '[PROJECT]',
    fields: { project: 'PROJECT' },
    options: [
      { flags: '--hub', field: 'hub', summary: 'the image of the hub that carrel compose renders, instead' },
      { flags: '--offline', summary: 'build without network' },
    ],
    completes: 'files',
    examples: ['image build .', 'image build . --offline'],
    load: () => import('../../image/cli/build.ts'),
  },
  {
    name: 'image ls',
    summary: 'list images for --image',
    examples: ['image ls'],
    load: () => import('../../image/cli/ls.ts'),
  },
  {
    name: 'image rm',
    summary: 'remove an image that was built here and that no sandbox uses',
    args: '<NAME>',
    fields: { name: 'NAME' },
    completes: 'images',
    examples: ['image rm carrel-sandbox-acme-shop'],
    load: () => import('../../image/cli/rm.ts'),
  },
];

const userCommands: readonly CommandEntry[] = [
  {
    name: 'user add',
    summary: 'add a user and print the token; it is shown only once',
    args: '<NAME>',
    fields: { name: 'NAME' },
    options: [
      {
        flags: '--uid <UID>',
        field: 'uid',
        summary: 'uid of the account whose directories the user may use as projects',
      },
      { flags: '--account <LOGIN>', summary: 'the same by login name' },
    ],
    examples: ['user add ann --account ann'],
    load: () => import('../../user/cli/add.ts'),
  },
  {
    name: 'user ls',
    summary: 'list users',
    examples: ['user ls'],
    load: () => import('../../user/cli/ls.ts'),
  },
  {
    name: 'user token',
    summary: 'replace the token of a user (default: yours) and print the new one',
    args: '[NAME]',
    fields: { name: 'NAME' },
    completes: 'users',
    examples: ['user token ann'],
    load: () => import('../../user/cli/token.ts'),
  },
  {
    name: 'user rm',
    summary: 'remove a user that has no sandboxes',
    args: '<NAME>',
    completes: 'users',
    examples: ['user rm ann'],
    load: () => import('../../user/cli/rm.ts'),
  },
];

const composeCommands: readonly CommandEntry[] = [
  {
    name: 'compose',
    summary: 'convert the carrel.yaml here to a docker-compose.yml and print it',
    options: [{ flags: '--file <FILE>', field: 'file', summary: 'read this file instead of ./carrel.yaml' }],
    examples: ['compose', 'compose --file carrel.yaml'],
    load: () => import('../../project/cli/compose.ts'),
  },
];

const commands: readonly CommandEntry[] = [
  ...volumeCommands,
  ...homeCommands,
  ...secretCommands,
  ...imageCommands,
  ...userCommands,
  ...composeCommands,
];

const names: NameSources = {
  volumes: {
    pattern: volumeNamePattern,
    list: async ({ client, signal }) => {
      const volumes = await client.call('GET /v1/volumes', { signal });
      return volumes.map(({ name, label }) => label ?? name);
    },
  },
  secrets: {
    pattern: secretNamePattern,
    list: async ({ client, signal }) => (await client.call('GET /v1/secrets', { signal })).map(({ name }) => name),
  },
  images: {
    pattern: /^[a-z0-9][a-z0-9._:/-]*$/,
    list: async ({ client, signal }) => (await client.call('GET /v1/images', { signal })).map(({ name }) => name),
  },
  users: {
    pattern: userNamePattern,
    list: async ({ client, signal }) => (await client.call('GET /v1/users', { signal })).map(({ name }) => name),
  },
};

export const storage: Area = { heading: 'Storage and people:', groups, commands, names };
