/** Every command, as data. The parser, the help and the completion scripts are made from this table. */
import { engineNames, runtimeNames, workspaceModes } from '../model/sandbox.ts';
import type { Perform } from './context.ts';
import { daemonCommands, daemonGroups, fleetFile, follow } from './daemon-commands.ts';
import { networkCommands, networkGroups } from './network-commands.ts';
import { storageCommands, storageGroups } from './storage-commands.ts';
import { swarmCommands, swarmGroups } from './swarm-commands.ts';
import { workspaceCommands } from './workspace-commands.ts';

/** What `carrel __names` tells the names of. */
export const nameKinds = ['sandboxes', 'users', 'volumes', 'secrets', 'images', 'credentials', 'agents'] as const;
export type NameKind = (typeof nameKinds)[number];

export type Area =
  | 'Daemon:'
  | 'Sandboxes:'
  | 'Workspaces:'
  | 'Swarms:'
  | 'Storage and people:'
  | 'Network:'
  | 'First contact:';

export interface OptionEntry {
  /** As the parser takes it: `-f, --follow` or `--tail <N>`. */
  readonly flags: string;
  readonly summary: string;
  readonly choices?: readonly string[];
  readonly repeat?: boolean;
  readonly hidden?: boolean;
  /** What its value completes to; left out, its choices or files. */
  readonly completes?: NameKind;
}

/** What several commands of two words begin with. */
export interface GroupEntry {
  readonly name: string;
  readonly area: Area;
  readonly summary: string;
}

export interface CommandEntry {
  /** One word, or that of a group and one more. */
  readonly name: string;
  readonly area: Area;
  readonly summary: string;
  /** `<name>` is needed, `[name]` is not, `<name...>` is one or more. */
  readonly args?: string;
  readonly options?: readonly OptionEntry[];
  /** Whether a command for the sandbox may follow after `--`. */
  readonly takesCommand?: boolean;
  /** How the usage line ends, where it says more than `args`. */
  readonly usage?: string;
  /** What its arguments complete to; `sandbox` is for the first only, `sandbox-files` has files after it, and so on. */
  readonly completes?:
    | NameKind
    | 'sandbox'
    | 'sandbox-files'
    | 'sandbox-snapshots'
    | 'files'
    | 'places'
    | readonly string[];
  readonly hidden?: boolean;
  readonly load: () => Promise<{ readonly default: Perform }>;
}

const env = { flags: '--env <K=V>', summary: 'set a variable inside; may be repeated', repeat: true };

const streamOptions: readonly OptionEntry[] = [
  { flags: '-i, --interactive', summary: 'give it this stdin' },
  { flags: '-t, --tty', summary: 'give it a terminal; left out, it gets one where stdin and stdout are one' },
  { flags: '-T, --no-tty', summary: 'give it no terminal' },
];

const sandboxOptions: readonly OptionEntry[] = [
  { flags: '--name <NAME>', summary: 'its name; left out, one is made up' },
  { flags: '--engine <ENGINE>', summary: 'what makes the sandbox', choices: engineNames },
  {
    flags: '--runtime <RUNTIME>',
    summary: 'the OCI runtime; left out, the first that is installed',
    choices: runtimeNames,
  },
  {
    flags: '--mode <MODE>',
    summary: 'how PROJECT appears in /workspace (with PROJECT: overlay)',
    choices: workspaceModes,
  },
  {
    flags: '--base <BASE>',
    summary: 'what a working copy is made on: the project as it is, or a copy that cannot move',
    choices: ['live', 'frozen'],
  },
  { flags: '--cpus <N>', summary: 'processors it may use (default 2)' },
  { flags: '--memory <SIZE>', summary: 'memory it may use (default 4g)' },
  { flags: '--swap <SIZE>', summary: 'memory and swap together (default 8g, or twice --memory)' },
  { flags: '--pids <N>', summary: 'processes and threads it may have (default 512)' },
  { flags: '--disk <SIZE>', summary: 'disk it may fill (default 8g)' },
  { flags: '--strict', summary: 'refuse limits that cannot be enforced here, instead of saying so' },
  env,
  {
    flags: '--secret <NAME>',
    summary: 'give it a secret, as /run/secrets/NAME; may be repeated',
    repeat: true,
    completes: 'secrets',
  },
  {
    flags: '--credential <NAME>',
    summary: 'have a credential added to its requests, outside; may be repeated',
    repeat: true,
    completes: 'credentials',
  },
  {
    flags: '--service <NAME>',
    summary: 'let it call a service of config.yaml, which is told who calls; may be repeated',
    repeat: true,
  },
  {
    flags: '--volume <NAME:PATH>',
    summary: 'show a volume, by type or name, at PATH inside, read-only with :ro at the end; may be repeated',
    repeat: true,
    completes: 'volumes',
  },
  {
    flags: '--network <RULES>',
    summary:
      'what it may reach: none, or HOST[:PORT] after HOST[:PORT] with commas between; * is one label, as in *.HOST',
  },
  {
    flags: '--image <REF>',
    summary: 'an image of the owner’s list, or one built here, as root filesystem (engine docker)',
    completes: 'images',
  },
  { flags: '--rootfs <PATH>', summary: 'a folder or tarball as root filesystem instead of the host’s /usr' },
  { flags: '--label <K=V>', summary: 'remember something with it; may be repeated', repeat: true },
  { flags: '--rm', summary: 'remove it when its command has ended' },
];

export const groups: readonly GroupEntry[] = [...daemonGroups, ...swarmGroups, ...storageGroups, ...networkGroups];

export const commands: readonly CommandEntry[] = [
  ...daemonCommands,
  {
    name: 'run',
    area: 'Sandboxes:',
    summary: 'run a command in a new sandbox',
    args: '[PROJECT]',
    usage: '[options] [PROJECT] -- CMD…',
    options: [
      ...sandboxOptions,
      ...streamOptions,
      { flags: '-d, --detach', summary: 'print the name and leave it running' },
    ],
    takesCommand: true,
    completes: 'files',
    load: () => import('./command/run.ts'),
  },
  {
    name: 'create',
    area: 'Sandboxes:',
    summary: 'create and start a sandbox; without CMD it idles until stopped',
    args: '[PROJECT]',
    usage: '[options] [PROJECT] [-- CMD…]',
    options: [
      ...sandboxOptions,
      ...streamOptions,
      { flags: '-d, --detach', summary: 'what create does anyway', hidden: true },
    ],
    takesCommand: true,
    completes: 'files',
    load: () => import('./command/create.ts'),
  },
  {
    name: 'ls',
    area: 'Sandboxes:',
    summary: 'list sandboxes',
    options: [
      { flags: '--size', summary: 'also what each takes on disk, snapshots included' },
      { flags: '--all-users', summary: 'those of all users; for the owner' },
    ],
    load: () => import('./command/ls.ts'),
  },
  {
    name: 'show',
    area: 'Sandboxes:',
    summary: 'show everything about one',
    args: '<NAME>',
    completes: 'sandboxes',
    load: () => import('./command/show.ts'),
  },
  {
    name: 'exec',
    area: 'Sandboxes:',
    summary: 'run another command in a running sandbox',
    args: '<NAME>',
    usage: '[options] NAME -- CMD…',
    options: [
      ...streamOptions,
      env,
      { flags: '-w, --cwd <DIR>', summary: 'the folder to start in' },
      { flags: '--bound', summary: 'end it when this client goes away' },
    ],
    takesCommand: true,
    completes: 'sandboxes',
    load: () => import('./command/exec.ts'),
  },
  {
    name: 'shell',
    area: 'Sandboxes:',
    summary: 'open a shell in a running sandbox',
    args: '<NAME>',
    completes: 'sandboxes',
    load: () => import('./command/shell.ts'),
  },
  {
    name: 'attach',
    area: 'Sandboxes:',
    summary: 'join the streams of its command; Ctrl-C leaves, or Ctrl-P Ctrl-Q a terminal',
    args: '<NAME>',
    completes: 'sandboxes',
    load: () => import('./command/attach.ts'),
  },
  {
    name: 'logs',
    area: 'Sandboxes:',
    summary: 'show what its command wrote',
    args: '<NAME>',
    options: [follow('go on with what it writes'), { flags: '--tail <N>', summary: 'only the last N lines' }],
    completes: 'sandboxes',
    load: () => import('./command/logs.ts'),
  },
  {
    name: 'wait',
    area: 'Sandboxes:',
    summary: 'wait until it has ended and print its exit code',
    args: '<NAME>',
    completes: 'sandboxes',
    load: () => import('./command/wait.ts'),
  },
  {
    name: 'stop',
    area: 'Sandboxes:',
    summary: 'end what runs: SIGTERM, then SIGKILL',
    args: '[NAME...]',
    usage: '[options] NAME… | --all',
    options: [
      { flags: '--grace <SECONDS>', summary: 'time between the two (default 10)' },
      { flags: '--all', summary: 'every sandbox of yours that runs' },
    ],
    completes: 'sandboxes',
    load: () => import('./command/stop.ts'),
  },
  {
    name: 'start',
    area: 'Sandboxes:',
    summary: 'start again what has ended',
    args: '<NAME...>',
    completes: 'sandboxes',
    load: () => import('./command/start.ts'),
  },
  {
    name: 'restart',
    area: 'Sandboxes:',
    summary: 'stop what runs and start it again',
    args: '<NAME...>',
    options: [{ flags: '--grace <SECONDS>', summary: 'time between SIGTERM and SIGKILL (default 10)' }],
    completes: 'sandboxes',
    load: () => import('./command/restart.ts'),
  },
  {
    name: 'rm',
    area: 'Sandboxes:',
    summary: 'remove what has ended',
    args: '[NAME...]',
    usage: '[options] NAME… | --stale AGE',
    options: [
      { flags: '-f, --force', summary: 'also what still runs or has changes nobody took' },
      { flags: '--stale <AGE>', summary: 'what ended so long ago, such as 7d; never what runs' },
      { flags: '-y, --yes', summary: 'with --stale, do not ask' },
    ],
    completes: 'sandboxes',
    load: () => import('./command/rm.ts'),
  },
  {
    name: 'cp',
    area: 'Sandboxes:',
    summary: 'copy files in or out; a side in the sandbox is NAME:PATH',
    args: '<SRC> <DST>',
    completes: 'places',
    load: () => import('./command/cp.ts'),
  },
  {
    name: 'stats',
    area: 'Sandboxes:',
    summary: 'show what running sandboxes use',
    load: () => import('./command/stats.ts'),
  },
  ...workspaceCommands,
  ...swarmCommands,
  ...storageCommands,
  ...networkCommands,
  {
    name: 'compose',
    area: 'Storage and people:',
    summary: 'print the carrel.yaml here as a docker-compose.yml',
    options: [fleetFile],
    load: () => import('./command/compose.ts'),
  },
  {
    name: 'demo',
    area: 'First contact:',
    summary:
      'see three agents work side by side on a sample project, in a folder of its own or in DIR; no key, no network',
    args: '[DIR]',
    completes: 'files',
    load: () => import('./command/demo.ts'),
  },
  {
    name: 'init',
    area: 'First contact:',
    summary: 'write a carrel.yaml for the projects in this folder',
    load: () => import('./command/init.ts'),
  },
  {
    name: 'completion',
    area: 'First contact:',
    summary: 'print a completion script for bash, zsh or fish',
    args: '<SHELL>',
    completes: ['bash', 'zsh', 'fish'],
    load: () => import('./command/completion.ts'),
  },
  {
    name: '__names',
    area: 'First contact:',
    summary: 'names of sandboxes or other things, for completion',
    args: '[KIND] [OF]',
    hidden: true,
    load: () => import('./command/names.ts'),
  },
];
