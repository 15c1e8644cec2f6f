/** The commands about sandboxes. */
import { engineNames, runtimeNames, workspaceModes } from '../../model/sandbox.ts';
import type { Area, OptionEntry } from '../cli.ts';

const env = { flags: '--env <K=V>', field: 'env', summary: 'set a variable inside; may be repeated', repeat: true };

const streamOptions: readonly OptionEntry[] = [
  { flags: '-i, --interactive', summary: 'give it this stdin' },
  { flags: '-t, --tty', summary: 'give it a terminal; left out, it gets one where stdin and stdout are one' },
  { flags: '-T, --no-tty', summary: 'give it no terminal' },
];

const sandboxOptions: readonly OptionEntry[] = [
  { flags: '--name <NAME>', field: 'name', summary: 'its name; left out, one is made up' },
  { flags: '--engine <ENGINE>', field: 'engine', summary: 'what makes the sandbox', choices: engineNames },
  {
    flags: '--runtime <RUNTIME>',
    field: 'runtime',
    summary: 'the OCI runtime; left out, the first that is installed',
    choices: runtimeNames,
  },
  {
    flags: '--mode <MODE>',
    field: 'mode',
    summary: 'how PROJECT appears in /workspace (with PROJECT: overlay)',
    choices: workspaceModes,
  },
  {
    flags: '--base <BASE>',
    field: 'base',
    summary: 'what a working copy is made on: the project as it is, or a copy that cannot move',
    choices: ['live', 'frozen'],
  },
  { flags: '--cpus <N>', field: 'limits.cpus', summary: 'processors it may use (default 2)' },
  { flags: '--memory <SIZE>', field: 'limits.memoryBytes', summary: 'memory it may use (default 4g)' },
  {
    flags: '--swap <SIZE>',
    field: 'limits.swapBytes',
    summary: 'memory and swap together (default 8g, or twice --memory)',
  },
  { flags: '--pids <N>', field: 'limits.pids', summary: 'processes and threads it may have (default 512)' },
  { flags: '--disk <SIZE>', field: 'limits.diskBytes', summary: 'disk it may fill (default 8g)' },
  { flags: '--strict', summary: 'refuse limits that cannot be enforced here, instead of saying so' },
  env,
  {
    flags: '--secret <NAME>',
    field: 'secrets',
    summary: 'give it a secret, as /run/secrets/NAME; may be repeated',
    repeat: true,
    completes: 'secrets',
  },
  {
    flags: '--credential <NAME>',
    field: 'credentials',
    summary: 'have a credential added to its requests, outside; may be repeated',
    repeat: true,
    completes: 'credentials',
  },
  {
    flags: '--service <NAME>',
    field: 'services',
    summary: 'let it call a service of config.yaml, which is told who calls; may be repeated',
    repeat: true,
  },
  {
    flags: '--volume <NAME:PATH>',
    field: 'volumes',
    summary: 'show a volume, by type or name, at PATH inside, read-only with :ro at the end; may be repeated',
    repeat: true,
    completes: 'volumes',
  },
  {
    flags: '--network <RULES>',
    field: 'network',
    summary:
      'what it may reach: none, or HOST[:PORT] after HOST[:PORT] with commas between; * is one label, as in *.HOST',
  },
  {
    flags: '--image <REF>',
    field: 'image',
    summary: 'an image of the owner’s list, or one built here, as root filesystem (engine docker)',
    completes: 'images',
  },
  {
    flags: '--rootfs <PATH>',
    field: 'rootfs',
    summary: 'a folder or tarball as root filesystem instead of the host’s /usr',
  },
  { flags: '--label <K=V>', field: 'labels', summary: 'remember something with it; may be repeated', repeat: true },
  { flags: '--rm', summary: 'remove it when its command has ended' },
];

export const sandbox: Area = {
  heading: 'Sandboxes:',
  commands: [
    {
      name: 'run',
      summary: 'run a command in a new sandbox',
      args: '[PROJECT]',
      fields: { project: 'PROJECT' },
      usage: '[options] [PROJECT] -- CMD…',
      options: [
        ...sandboxOptions,
        ...streamOptions,
        { flags: '-d, --detach', summary: 'print the name and leave it running' },
      ],
      takesCommand: true,
      completes: 'files',
      load: () => import('./run.ts'),
    },
    {
      name: 'create',
      summary: 'create and start a sandbox; without CMD it idles until stopped',
      args: '[PROJECT]',
      fields: { project: 'PROJECT' },
      usage: '[options] [PROJECT] [-- CMD…]',
      options: [
        ...sandboxOptions,
        ...streamOptions,
        { flags: '-d, --detach', summary: 'what create does anyway', hidden: true },
      ],
      takesCommand: true,
      completes: 'files',
      load: () => import('./create.ts'),
    },
    {
      name: 'ls',
      summary: 'list sandboxes',
      options: [
        { flags: '--size', summary: 'also what each takes on disk, snapshots included' },
        { flags: '--all-users', summary: 'those of all users; for the owner' },
      ],
      load: () => import('./ls.ts'),
    },
    {
      name: 'show',
      summary: 'show everything about one',
      args: '<NAME>',
      completes: 'sandboxes',
      load: () => import('./show.ts'),
    },
    {
      name: 'exec',
      summary: 'run another command in a running sandbox',
      args: '<NAME>',
      usage: '[options] NAME -- CMD…',
      options: [
        ...streamOptions,
        env,
        { flags: '-w, --cwd <DIR>', field: 'cwd', summary: 'the folder to start in' },
        { flags: '--bound', summary: 'end it when this client goes away' },
      ],
      takesCommand: true,
      completes: 'sandboxes',
      load: () => import('./exec.ts'),
    },
    {
      name: 'shell',
      summary: 'open a shell in a running sandbox',
      args: '<NAME>',
      completes: 'sandboxes',
      load: () => import('./shell.ts'),
    },
    {
      name: 'attach',
      summary: 'join the streams of its command; Ctrl-C leaves, or Ctrl-P Ctrl-Q a terminal',
      args: '<NAME>',
      completes: 'sandboxes',
      load: () => import('./attach.ts'),
    },
    {
      name: 'logs',
      summary: 'show what its command wrote',
      args: '<NAME>',
      options: [
        { flags: '-f, --follow', summary: 'go on with what it writes' },
        { flags: '--tail <N>', field: 'tail', summary: 'only the last N lines' },
      ],
      completes: 'sandboxes',
      load: () => import('./logs.ts'),
    },
    {
      name: 'wait',
      summary: 'wait until it has ended and print its exit code',
      args: '<NAME>',
      completes: 'sandboxes',
      load: () => import('./wait.ts'),
    },
    {
      name: 'stop',
      summary: 'end what runs: SIGTERM, then SIGKILL',
      args: '[NAME...]',
      usage: '[options] NAME… | --all',
      options: [
        { flags: '--grace <SECONDS>', field: 'graceMs', summary: 'time between the two (default 10)' },
        { flags: '--all', summary: 'every sandbox of yours that runs' },
      ],
      completes: 'sandboxes',
      load: () => import('./stop.ts'),
    },
    {
      name: 'start',
      summary: 'start again what has ended',
      args: '<NAME...>',
      completes: 'sandboxes',
      load: () => import('./start.ts'),
    },
    {
      name: 'restart',
      summary: 'stop what runs and start it again',
      args: '<NAME...>',
      options: [
        { flags: '--grace <SECONDS>', field: 'graceMs', summary: 'time between SIGTERM and SIGKILL (default 10)' },
      ],
      completes: 'sandboxes',
      load: () => import('./restart.ts'),
    },
    {
      name: 'rm',
      summary: 'remove what has ended',
      args: '[NAME...]',
      usage: '[options] NAME… | --stale AGE',
      options: [
        { flags: '-f, --force', summary: 'also what still runs or has changes nobody took' },
        { flags: '--stale <AGE>', field: 'staleMs', summary: 'what ended so long ago, such as 7d; never what runs' },
        { flags: '-y, --yes', summary: 'with --stale, do not ask' },
      ],
      completes: 'sandboxes',
      load: () => import('./rm.ts'),
    },
    {
      name: 'cp',
      summary: 'copy files in or out; a side in the sandbox is NAME:PATH',
      args: '<SRC> <DST>',
      completes: 'places',
      load: () => import('./cp.ts'),
    },
    {
      name: 'stats',
      summary: 'show what running sandboxes use',
      load: () => import('./stats.ts'),
    },
  ],
};
