import { parseArgs } from 'node:util';

export const sections = ['start', 'exec', 'command', 'burst', 'many'] as const;
export type Section = (typeof sections)[number];

export interface Options {
  readonly only: readonly Section[];
  readonly rounds: number;
  readonly bursts: number;
  readonly burstSize: number;
  /** How many sandboxes live while starts are measured among few and among many. */
  readonly few: number;
  readonly many: number;
  readonly records: number;
}

export const usage = `usage: npm run bench -- [--only NAME]... [--quick]

  --only NAME   only this part, and what it needs: ${sections.join(', ')}; may be repeated
  --quick       fewer repetitions and fewer sandboxes: a look, not a judgement
`;

const thorough = { rounds: 40, bursts: 3, burstSize: 100, few: 10, many: 500, records: 1000 };
const quick = { rounds: 8, bursts: 1, burstSize: 100, few: 10, many: 100, records: 1000 };

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
