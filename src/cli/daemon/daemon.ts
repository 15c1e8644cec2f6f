/** The commands about the daemon, and what it tells of the machine. */
import type { Area, CommandEntry, GroupEntry, OptionEntry } from '../cli.ts';

const fleetFile: OptionEntry = { flags: '--file <FILE>', field: 'file', summary: 'another file than carrel.yaml' };
const after: OptionEntry = {
  flags: '--after <SEQ>',
  field: 'after',
  summary: 'only what came after this sequence number',
};

const groups: readonly GroupEntry[] = [{ name: 'engine', summary: 'what makes sandboxes' }];

const commands: readonly CommandEntry[] = [
  {
    name: 'up',
    summary: 'bring the machine to the carrel.yaml here; without one, run the daemon, in the background with -d',
    options: [
      { flags: '-d, --detach', summary: 'start the daemon in the background and return' },
      fleetFile,
      { flags: '--dry-run', summary: 'show what would be done' },
      { flags: '-y, --yes', summary: 'remove without asking what is not declared, or was otherwise' },
    ],
    load: () => import('./up.ts'),
  },
  {
    name: 'down',
    summary: 'end the daemon; sandboxes go on',
    options: [{ flags: '--all', summary: 'stop all sandboxes first' }],
    load: () => import('./down.ts'),
  },
  {
    name: 'status',
    summary: 'show the daemon and what it holds',
    load: () => import('./status.ts'),
  },
  {
    name: 'doctor',
    summary: 'check what this machine offers and what is isolated, with a hint for what is missing',
    load: () => import('./doctor.ts'),
  },
  {
    name: 'events',
    summary: 'show what happened',
    options: [{ flags: '-f, --follow', summary: 'go on with what happens' }, after],
    load: () => import('./events.ts'),
  },
  {
    name: 'audit',
    summary: 'show who did what; everything for the owner, for others what they did themselves',
    options: [{ flags: '-f, --follow', summary: 'go on with what is done' }, after],
    load: () => import('./audit.ts'),
  },
  {
    name: 'engine ls',
    summary: 'list the engines and whether they can be used, with a hint where not',
    load: () => import('./engine-ls.ts'),
  },
];

export const daemon: Area = { heading: 'Daemon:', groups, commands };
