/** The commands about the daemon and the machine. */
import type { Area, CommandEntry, GroupEntry, OptionEntry } from '../../../client/cli.ts';

const fleetFile: OptionEntry = {
  flags: '--file <FILE>',
  field: 'file',
  summary: 'read this file instead of ./carrel.yaml',
};
const after: OptionEntry = {
  flags: '--after <SEQ>',
  field: 'after',
  summary: 'only entries after this sequence number',
};

const groups: readonly GroupEntry[] = [{ name: 'engine', summary: 'the engines that run sandboxes' }];

const commands: readonly CommandEntry[] = [
  {
    name: 'up',
    summary: 'create, replace and remove sandboxes until they match the carrel.yaml here; without one, run the daemon',
    options: [
      { flags: '-d, --detach', summary: 'start the daemon in the background and return' },
      { flags: '--port <N>', field: 'port', summary: 'open this TCP port for MCP clients (0: any free one)' },
      fleetFile,
      { flags: '--dry-run', summary: 'show the steps and do nothing' },
      { flags: '-y, --yes', summary: 'do not ask before sandboxes are removed or replaced' },
    ],
    examples: ['up', 'up --port 7070', 'up --file carrel.yaml --dry-run'],
    load: async () => (await import('./up.ts')).up,
  },
  {
    name: 'down',
    summary: 'stop the daemon; sandboxes keep running',
    options: [{ flags: '--all', summary: 'also stop all sandboxes' }],
    examples: ['down', 'down --all'],
    load: async () => (await import('./down.ts')).down,
  },
  {
    name: 'status',
    summary: 'show whether the daemon runs, its version and how many sandboxes there are',
    examples: ['status'],
    load: async () => (await import('./status.ts')).status,
  },
  {
    name: 'doctor',
    summary: 'check what this machine supports and that sandboxes are isolated, with a hint for each problem',
    examples: ['doctor'],
    load: async () => (await import('./doctor.ts')).doctor,
  },
  {
    name: 'events',
    summary: 'show the log of events',
    options: [{ flags: '-f, --follow', summary: 'keep printing new events' }, after],
    examples: ['events --follow'],
    load: async () => (await import('./event-events.ts')).events,
  },
  {
    name: 'audit',
    summary: 'show which user did what; the owner sees all users, others see themselves',
    options: [{ flags: '-f, --follow', summary: 'keep printing new entries' }, after],
    examples: ['audit', 'audit --follow --after 100'],
    load: async () => (await import('./audit.ts')).audit,
  },
  {
    name: 'du',
    summary: 'show where the disk space of this installation goes; for the owner',
    options: [{ flags: '-a, --all', summary: 'also each sandbox, volume and file' }],
    examples: ['du', 'du --all'],
    load: async () => (await import('./disk-du.ts')).du,
  },
  {
    name: 'clean',
    summary: 'free disk space: remove ended sandboxes with nothing to apply, and old automatic snapshots',
    options: [
      { flags: '--older <DURATION>', summary: 'only what is older than this, 0 for everything (default 7d)' },
      { flags: '-n, --dry-run', summary: 'show what would be removed' },
      { flags: '-y, --yes', summary: 'do not ask for confirmation' },
    ],
    examples: ['clean --dry-run', 'clean --older 1d --yes'],
    load: async () => (await import('./clean.ts')).clean,
  },
  {
    name: 'engine ls',
    summary: 'list engines and whether they can be used here',
    examples: ['engine ls'],
    load: async () => (await import('./engine-ls.ts')).engineLs,
  },
];

export const daemon: Area = { heading: 'Daemon:', groups, commands };
