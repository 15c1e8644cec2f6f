import { parseArgs } from 'node:util';

/**
 * Sections that make files come before those that delete many: ext4 is slow to make files where it freed some minutes
 * ago.
 */
export const sections = [
  ...(['start', 'exec', 'docker', 'command', 'burst', 'many', 'swarm'] as const),
  ...(['prepare', 'files', 'review', 'apply', 'branch', 'stall', 'fork', 'backup'] as const),
  ...(['network', 'code', 'search', 'hub', 'rooms', 'sessions', 'memory', 'terminal'] as const),
] as const;
export type Section = (typeof sections)[number];

export interface Options {
  readonly only: readonly Section[];
  readonly rounds: number;
  readonly bursts: number;
  readonly burstSize: number;
  /** How many sandboxes run while starts are measured among few and among many. */
  readonly few: number;
  readonly many: number;
  readonly records: number;
  /** How many files the projects have. */
  readonly smallProject: number;
  readonly largeProject: number;
  /** How many files an agent changed. */
  readonly fewChanges: number;
  readonly manyChanges: number;
  /** The size of files that are committed to a branch. */
  readonly largeFileMb: number;
  /** Rounds of measurements that take seconds. */
  readonly heavyRounds: number;
  /** The number of packages that npm installs, and of small files. */
  readonly packages: number;
  readonly smallFiles: number;
  /** Calls of a tool of the hub. */
  readonly calls: number;
  /** Messages that many writers post to a room, and messages in a room that is opened. */
  readonly posts: number;
  readonly roomMessages: number;
  /** Notes that are searched, and calls after which the memory of the daemon is measured. */
  readonly notes: number;
  readonly noteCalls: number;
}

export const usage = `usage: npm run bench -- [--only NAME]... [--quick]

  --only NAME   only this part, and what it needs: ${sections.join(', ')}; may be repeated
  --quick       fewer repetitions, sandboxes and files: a look, not a judgement
`;

const thorough = {
  ...{ rounds: 40, bursts: 3, burstSize: 100, few: 10, many: 500, records: 1000 },
  ...{ smallProject: 1000, largeProject: 100_000, fewChanges: 10, manyChanges: 10_000, largeFileMb: 30 },
  ...{ heavyRounds: 3, packages: 200, smallFiles: 3000, calls: 100_000 },
  ...{ posts: 10_000, roomMessages: 1_000_000, notes: 100_000, noteCalls: 100_000 },
};
const quick = {
  ...{ rounds: 8, bursts: 1, burstSize: 100, few: 10, many: 100, records: 1000 },
  ...{ smallProject: 1000, largeProject: 10_000, fewChanges: 10, manyChanges: 2000, largeFileMb: 5 },
  ...{ heavyRounds: 1, packages: 50, smallFiles: 3000, calls: 5000 },
  ...{ posts: 2000, roomMessages: 100_000, notes: 100_000, noteCalls: 5000 },
};

export function readOptions(argv: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      only: { type: 'string', multiple: true },
      quick: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return 'help';
  const only = (values.only ?? sections).map(asSection);
  return { only, ...(values.quick ? quick : thorough) };
}

function asSection(name: string): Section {
  const found = sections.find((section) => section === name);
  if (found === undefined) throw new Error(`no part ${name}; there are: ${sections.join(', ')}`);
  return found;
}
