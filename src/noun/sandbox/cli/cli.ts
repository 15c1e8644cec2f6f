/** The commands about sandboxes. */

import type { Area, NameSources, OptionEntry } from '../../../client/cli.ts';
import { engineNames, runtimeNames } from '../../../model/engine.ts';
import { sandboxNamePattern } from '../../../model/name.ts';
import { workspaceModes } from '../model.ts';
import { grantOptions, serviceOption } from './grant-options.ts';

const env: readonly OptionEntry[] = [
  {
    flags: '-e, --env <K=V>',
    field: 'env',
    summary: 'set an environment variable, K alone: to its value here; may be repeated',
    repeat: true,
  },
  {
    flags: '--env-file <FILE>',
    field: 'env',
    summary: 'set the variables of a file with lines of K=V or K; may be repeated',
    repeat: true,
  },
];

const cwd: OptionEntry = { flags: '-w, --cwd <DIR>', field: 'cwd', summary: 'working directory' };

const streamOptions: readonly OptionEntry[] = [
  { flags: '-i, --interactive', summary: 'connect stdin' },
  { flags: '-t, --tty', summary: 'allocate a terminal (default: if stdin and stdout are terminals)' },
  { flags: '-T, --no-tty', summary: 'allocate no terminal' },
];

export const sandboxOptions: readonly OptionEntry[] = [
  { flags: '--name <NAME>', field: 'name', summary: 'name of the sandbox (default: a generated one)' },
  { flags: '--engine <ENGINE>', field: 'engine', summary: 'engine that runs the sandbox', choices: engineNames },
  {
    flags: '--runtime <RUNTIME>',
    field: 'runtime',
    summary: 'OCI runtime (default: the first one installed)',
    choices: runtimeNames,
  },
  {
    flags: '--mode <MODE>',
    field: 'mode',
    summary: 'how PROJECT is mounted at /workspace (default with PROJECT: overlay)',
    choices: workspaceModes,
  },
  {
    flags: '--base <BASE>',
    field: 'base',
    summary: 'what the working copy is based on: the live project, or a frozen copy of it',
    choices: ['live', 'frozen'],
  },
  { flags: '--cpus <N>', field: 'limits.cpus', summary: 'limit of processors (default 2)' },
  { flags: '--memory <SIZE>', field: 'limits.memoryBytes', summary: 'limit of memory (default 4g)' },
  {
    flags: '--swap <SIZE>',
    field: 'limits.swapBytes',
    summary: 'limit of memory and swap together (default 8g, or twice --memory)',
  },
  { flags: '--pids <N>', field: 'limits.pids', summary: 'limit of processes and threads (default 512)' },
  { flags: '--disk <SIZE>', field: 'limits.diskBytes', summary: 'limit of disk space (default 8g)' },
  { flags: '--strict', summary: 'fail if a limit cannot be enforced here, instead of a warning' },
  ...env,
  {
    flags: '--secret <NAME>',
    field: 'secrets',
    summary: 'mount a secret at /run/secrets/NAME; may be repeated',
    repeat: true,
    completes: 'secrets',
  },
  {
    flags: '--credential <NAME>',
    field: 'credentials',
    summary: 'let the proxy add a credential to its requests; may be repeated',
    repeat: true,
    completes: 'credentials',
  },
  serviceOption,
  ...grantOptions,
  {
    flags: '--network <RULES>',
    field: 'network',
    summary:
      'hosts it may connect to: none, or HOST[:PORT] or a preset,…, such as npm,github; * stands for one label, as in *.example.com',
  },
  {
    flags: '-p, --publish <PORTS>',
    field: 'ports',
    summary:
      'forward a port of this machine to a server inside: PORT, HOSTPORT:PORT or ADDRESS:HOSTPORT:PORT; may be repeated',
    repeat: true,
  },
  cwd,
  {
    flags: '--image <REF>',
    field: 'image',
    summary: 'image as root filesystem: one of image ls (engine docker)',
    completes: 'images',
  },
  {
    flags: '--rootfs <PATH>',
    field: 'rootfs',
    summary: 'directory or tarball as root filesystem instead of the host’s /usr',
  },
  { flags: '--label <K=V>', field: 'labels', summary: 'label of the sandbox; may be repeated', repeat: true },
  { flags: '--rm', summary: 'remove the sandbox when its command has ended' },
];

const names: NameSources = {
  sandboxes: {
    pattern: sandboxNamePattern,
    list: async ({ client, signal }) => (await client.call('GET /v1/sandboxes', { signal })).map(({ name }) => name),
  },
};

export const sandbox: Area = {
  heading: 'Sandboxes:',
  names,
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
        { flags: '-d, --detach', summary: 'print the name and run in the background' },
      ],
      takesCommand: true,
      completes: 'files',
      examples: ['run . -- npm test', 'run -it -v cache:/cache -e CI=1 --network registry.npmjs.org . -- bash'],
      load: async () => (await import('./run.ts')).run,
    },
    {
      name: 'create',
      summary: 'create and start a sandbox in the background; without CMD it idles',
      args: '[PROJECT]',
      fields: { project: 'PROJECT' },
      usage: '[options] [PROJECT] [-- CMD…]',
      options: [
        ...sandboxOptions,
        ...streamOptions,
        { flags: '-d, --detach', summary: 'the default of create', hidden: true },
      ],
      takesCommand: true,
      completes: 'files',
      examples: ['create --name web .', 'create --name web --env-file .env -p 3000 . -- npm start'],
      load: async () => (await import('./create.ts')).create,
    },
    {
      name: 'ls',
      summary: 'list sandboxes',
      options: [
        { flags: '-q, --quiet', summary: 'print only names' },
        { flags: '--size', summary: 'also show disk usage, snapshots included' },
        { flags: '--all-users', summary: 'include all users; for the owner' },
      ],
      examples: ['ls', 'rm $(carrel ls -q)'],
      load: async () => (await import('./ls.ts')).ls,
    },
    {
      name: 'show',
      summary: 'show all details of a sandbox',
      args: '<NAME>',
      completes: 'sandboxes',
      examples: ['show ada'],
      load: async () => (await import('./show.ts')).show,
    },
    {
      name: 'exec',
      summary: 'run another command in a sandbox; one that was stopped is started first',
      args: '<NAME>',
      usage: '[options] NAME CMD…',
      options: [
        ...streamOptions,
        ...env,
        cwd,
        { flags: '--bound', summary: 'end the command when this client disconnects' },
      ],
      takesCommand: true,
      commandAfter: 1,
      completes: 'sandboxes',
      examples: ['exec web npm test', 'exec -it web bash'],
      load: async () => (await import('./exec.ts')).exec,
    },
    {
      name: 'shell',
      summary: 'open a shell in a sandbox; one that was stopped is started first',
      args: '<NAME>',
      completes: 'sandboxes',
      examples: ['shell ada'],
      load: async () => (await import('./commands.ts')).shell,
    },
    {
      name: 'attach',
      summary: 'connect to the command of a sandbox; detach with Ctrl-C, or Ctrl-P Ctrl-Q in a terminal',
      args: '<NAME>',
      completes: 'sandboxes',
      examples: ['attach ada'],
      load: async () => (await import('./commands.ts')).attach,
    },
    {
      name: 'logs',
      summary: 'show the output of its command',
      args: '<NAME>',
      options: [
        { flags: '-f, --follow', summary: 'keep printing new output' },
        { flags: '-n, --tail <N>', field: 'tail', summary: 'only the last N lines' },
      ],
      completes: 'sandboxes',
      examples: ['logs -f -n 20 web'],
      load: async () => (await import('./commands.ts')).logs,
    },
    {
      name: 'wait',
      summary: 'wait until a sandbox has ended and print its exit code',
      args: '<NAME>',
      completes: 'sandboxes',
      examples: ['wait ada'],
      load: async () => (await import('./commands.ts')).wait,
    },
    {
      name: 'stop',
      summary: 'stop sandboxes: SIGTERM, then SIGKILL',
      args: '[NAME...]',
      usage: '[options] NAME… | --all',
      options: [
        { flags: '--grace <SECONDS>', field: 'graceMs', summary: 'time between SIGTERM and SIGKILL (default 10)' },
        { flags: '--all', summary: 'all your running sandboxes' },
      ],
      completes: 'sandboxes',
      examples: ['stop ada', 'stop --all --grace 5'],
      load: async () => (await import('./commands.ts')).stop,
    },
    {
      name: 'start',
      summary: 'start sandboxes that have ended or were stopped',
      args: '[NAME...]',
      usage: '[options] NAME… | --all',
      options: [{ flags: '--all', summary: 'all your sandboxes that were stopped or lost' }],
      completes: 'sandboxes',
      examples: ['start web', 'start --all'],
      load: async () => (await import('./commands.ts')).start,
    },
    {
      name: 'restart',
      summary: 'stop and start sandboxes',
      args: '<NAME...>',
      options: [
        { flags: '--grace <SECONDS>', field: 'graceMs', summary: 'time between SIGTERM and SIGKILL (default 10)' },
      ],
      completes: 'sandboxes',
      examples: ['restart ada'],
      load: async () => (await import('./commands.ts')).restart,
    },
    {
      name: 'rm',
      summary: 'remove sandboxes that have ended',
      args: '[NAME...]',
      usage: '[options] NAME… | --all | --stale AGE',
      options: [
        { flags: '-f, --force', summary: 'also running sandboxes, and those with changes that were not applied' },
        { flags: '--all', summary: 'all your sandboxes that have ended; with --force also those that run' },
        { flags: '--stale <AGE>', field: 'staleMs', summary: 'all that ended at least this long ago, such as 7d' },
        { flags: '-y, --yes', summary: 'do not ask for confirmation (with --all or --stale)' },
      ],
      completes: 'sandboxes',
      examples: ['rm web', 'rm --all', 'rm --stale 7d --yes'],
      load: async () => (await import('./rm.ts')).rm,
    },
    {
      name: 'cp',
      summary: 'copy files into or out of a sandbox; NAME:PATH is a path inside',
      args: '<SRC> <DST>',
      completes: 'places',
      examples: ['cp notes.txt ada:/workspace/', 'cp ada:/workspace/report.pdf .'],
      load: async () => (await import('./cp.ts')).cp,
    },
    {
      name: 'stats',
      summary: 'show processor, memory and process usage of running sandboxes',
      examples: ['stats'],
      load: async () => (await import('./commands.ts')).stats,
    },
  ],
};
