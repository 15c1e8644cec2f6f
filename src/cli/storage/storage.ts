/** The commands about volumes, secrets and users. */
import { engineNames } from '../../model/sandbox.ts';
import type { Area, CommandEntry, GroupEntry, OptionEntry } from '../cli.ts';

const allUsers: OptionEntry = { flags: '--all-users', summary: 'those of all users; for the owner' };

const groups: readonly GroupEntry[] = [
  { name: 'volume', summary: 'folders that outlive sandboxes' },
  { name: 'home', summary: 'what all your sandboxes have in their home' },
  { name: 'secret', summary: 'what sandboxes may read and nothing else may tell' },
  { name: 'image', summary: 'what sandboxes on a Docker Engine are made of' },
  { name: 'user', summary: 'those who may come in' },
];

const volumeCommands: readonly CommandEntry[] = [
  {
    name: 'volume ls',
    summary: 'list volumes',
    options: [allUsers, { flags: '--backups', summary: 'their backups instead, for: carrel volume restore FILE' }],
    load: () => import('./volume-ls.ts'),
  },
  {
    name: 'volume init',
    summary: 'make your volumes; those that exist stay as they are',
    options: [
      {
        flags: '--plugins <FOLDER>',
        field: 'plugins',
        summary: 'what base-plugins, shared by all, is to have; for the owner',
      },
    ],
    load: () => import('./volume-init.ts'),
  },
  {
    name: 'volume create',
    summary: 'make a volume with a name of your own, for: --volume NAME:PATH',
    args: '<NAME>',
    fields: { name: 'NAME' },
    load: () => import('./volume-create.ts'),
  },
  {
    name: 'volume rm',
    summary: 'remove volumes with names of your own, each after a backup; or, with --backups, backups',
    args: '<NAME...>',
    fields: { file: 'NAME' },
    options: [
      { flags: '--no-backup', summary: 'make no backup: what goes is gone' },
      { flags: '--backups', summary: 'NAME is a backup, as carrel volume ls --backups shows it' },
    ],
    completes: 'volumes',
    load: () => import('./volume-rm.ts'),
  },
  {
    name: 'volume status',
    summary: 'show their sizes, who has them and when they were last used',
    options: [allUsers],
    load: () => import('./volume-status.ts'),
  },
  {
    name: 'volume clean',
    summary: 'remove volumes that no sandbox has, those of all types unless named; each is backed up first',
    args: '[NAME...]',
    fields: { names: 'NAME' },
    options: [
      { flags: '-y, --yes', summary: 'do not ask' },
      { flags: '--no-backup', summary: 'make no backup: what goes is gone' },
    ],
    completes: 'volumes',
    load: () => import('./volume-clean.ts'),
  },
  {
    name: 'volume backup',
    summary: 'pack a volume into one archive and print where it is',
    args: '<NAME>',
    completes: 'volumes',
    load: () => import('./volume-backup.ts'),
  },
  {
    name: 'volume restore',
    summary: 'replace a volume by what an archive of it has',
    args: '<FILE>',
    fields: { file: 'FILE' },
    completes: 'files',
    load: () => import('./volume-restore.ts'),
  },
  {
    name: 'volume migrate',
    summary: 'bring content over from a folder that has volumes of older names',
    args: '<FOLDER>',
    fields: { folder: 'FOLDER' },
    completes: 'files',
    load: () => import('./volume-migrate.ts'),
  },
];

const homeCommands: readonly CommandEntry[] = [
  {
    name: 'home shell',
    summary:
      'open a shell, or run CMD, in a sandbox that changes the home of all your sandboxes; it is removed at the end',
    usage: '[options] [-- CMD…]',
    options: [
      { flags: '--engine <ENGINE>', field: 'engine', summary: 'what makes the sandbox', choices: engineNames },
      { flags: '--image <REF>', field: 'image', summary: 'as for run (engine docker)', completes: 'images' },
      { flags: '--network <RULES>', field: 'network', summary: 'what it may reach, as for run' },
    ],
    takesCommand: true,
    load: () => import('./home-shell.ts'),
  },
];

const secretCommands: readonly CommandEntry[] = [
  {
    name: 'secret set',
    summary: 'keep a secret, or replace it; the value is typed unseen or read from stdin, less one newline at its end',
    args: '<NAME>',
    fields: { name: 'NAME' },
    options: [
      { flags: '--file <FILE>', field: 'valueBase64', summary: 'take the value from a file, every byte of it' },
    ],
    completes: 'secrets',
    load: () => import('./secret-set.ts'),
  },
  {
    name: 'secret ls',
    summary: 'list secrets, never their values',
    load: () => import('./secret-ls.ts'),
  },
  {
    name: 'secret rm',
    summary: 'forget a secret that no sandbox was given',
    args: '<NAME>',
    completes: 'secrets',
    load: () => import('./secret-rm.ts'),
  },
];

const imageCommands: readonly CommandEntry[] = [
  {
    name: 'image build',
    summary: 'make the image of a project, if anything it is made of has changed; without PROJECT the base of all',
    args: '[PROJECT]',
    fields: { project: 'PROJECT' },
    options: [{ flags: '--offline', summary: 'the build has no network' }],
    completes: 'files',
    load: () => import('./image-build.ts'),
  },
  {
    name: 'image ls',
    summary: 'list the images that --image takes',
    load: () => import('./image-ls.ts'),
  },
  {
    name: 'image rm',
    summary: 'remove an image that was made here and that no sandbox is made of',
    args: '<NAME>',
    fields: { name: 'NAME' },
    completes: 'images',
    load: () => import('./image-rm.ts'),
  },
];

const userCommands: readonly CommandEntry[] = [
  {
    name: 'user add',
    summary: 'let somebody in and print their token, this once',
    args: '<NAME>',
    fields: { name: 'NAME' },
    options: [
      { flags: '--uid <UID>', field: 'uid', summary: 'the account whose folders may be their projects' },
      { flags: '--account <LOGIN>', summary: 'the same, by its login name' },
    ],
    load: () => import('./user-add.ts'),
  },
  {
    name: 'user ls',
    summary: 'list those who may come in',
    load: () => import('./user-ls.ts'),
  },
  {
    name: 'user token',
    summary: 'print a new token in place of the old one, yours unless named; nothing else changes',
    args: '[NAME]',
    fields: { name: 'NAME' },
    completes: 'users',
    load: () => import('./user-token.ts'),
  },
  {
    name: 'user rm',
    summary: 'let somebody in no more; their sandboxes have to be gone',
    args: '<NAME>',
    completes: 'users',
    load: () => import('./user-rm.ts'),
  },
];

const composeCommands: readonly CommandEntry[] = [
  {
    name: 'compose',
    summary: 'print the carrel.yaml here as a docker-compose.yml',
    options: [{ flags: '--file <FILE>', field: 'file', summary: 'another file than carrel.yaml' }],
    load: () => import('./compose.ts'),
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

export const storage: Area = { heading: 'Storage and people:', groups, commands };
