/** The commands about carrel.yaml. */
import type { Area, CommandEntry, GroupEntry, NameSources } from '../../../client/cli.ts';

const groups: readonly GroupEntry[] = [];

const commands: readonly CommandEntry[] = [
  {
    name: 'compose',
    summary: 'convert the carrel.yaml here to a docker-compose.yml and print it',
    options: [{ flags: '--file <FILE>', field: 'file', summary: 'read this file instead of ./carrel.yaml' }],
    examples: ['compose', 'compose --file carrel.yaml'],
    load: async () => (await import('./compose.ts')).compose,
  },
];

const names: NameSources = {};

export const project: Area = { heading: 'Storage and people:', groups, commands, names };
