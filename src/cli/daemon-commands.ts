/** The commands about the daemon, and what it tells of the machine. */
import type { CommandEntry, GroupEntry, OptionEntry } from './commands.ts';

export const follow = (summary: string): OptionEntry => ({ flags: '-f, --follow', summary });
export const fleetFile: OptionEntry = { flags: '--file <FILE>', summary: 'another file than carrel.yaml' };
const after: OptionEntry = { flags: '--after <SEQ>', summary: 'only what came after this sequence number' };

export const daemonGroups: readonly GroupEntry[] = [
  { name: 'engine', area: 'Daemon:', summary: 'what makes sandboxes' },
];

export const daemonCommands: readonly CommandEntry[] = [
  {
    name: 'up',
    area: 'Daemon:',
    summary: 'bring the machine to the carrel.yaml here; without one, run the daemon, in the background with -d',
    options: [
      { flags: '-d, --detach', summary: 'start the daemon in the background and return' },
      fleetFile,
      { flags: '--dry-run', summary: 'show what would be done' },
      { flags: '-y, --yes', summary: 'remove without asking what is not declared, or was otherwise' },
    ],
    load: () => import('./command/up.ts'),
  },
  {
    name: 'down',
    area: 'Daemon:',
    summary: 'end the daemon; sandboxes go on',
    options: [{ flags: '--all', summary: 'stop all sandboxes first' }],
    load: () => import('./command/down.ts'),
  },
  {
    name: 'status',
    area: 'Daemon:',
    summary: 'show the daemon and what it holds',
    load: () => import('./command/status.ts'),
  },
  {
    name: 'doctor',
    area: 'Daemon:',
    summary: 'prove what this machine offers, with the cure where it does not',
    load: () => import('./command/doctor.ts'),
  },
  {
    name: 'events',
    area: 'Daemon:',
    summary: 'show what happened',
    options: [follow('go on with what happens'), after],
    load: () => import('./command/events.ts'),
  },
  {
    name: 'audit',
    area: 'Daemon:',
    summary: 'show who did what; everything for the owner, for others what they did themselves',
    options: [follow('go on with what is done'), after],
    load: () => import('./command/audit.ts'),
  },
  {
    name: 'engine ls',
    area: 'Daemon:',
    summary: 'list the engines, whether they can be used, and the cure where not',
    load: () => import('./command/engine-ls.ts'),
  },
];
