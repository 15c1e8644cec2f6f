import type { CommandEntry, GroupEntry, OptionEntry } from '../cli.ts';

/** Options that every command takes. */
export const globalOptions: readonly OptionEntry[] = [
  { flags: '--home <DIR>', summary: 'the installation to use' },
  { flags: '--user <NAME>', summary: 'act as this user', completes: 'users' },
  { flags: '--json', summary: 'print JSON' },
  { flags: '-h, --help', summary: 'print help' },
];

export interface Flags {
  readonly short: string | null;
  readonly long: string;
  readonly takesValue: boolean;
}

/** `-f, --follow` → short and long; `--tail <N>` takes a value. */
export function flagsOf({ flags }: OptionEntry): Flags {
  const words = flags.split(/[ ,]+/);
  return {
    short: words.find((word) => /^-[^-]/.test(word)) ?? null,
    long: words.find((word) => word.startsWith('--'))!,
    takesValue: flags.includes('<'),
  };
}

export function optionsOf(entry: CommandEntry): readonly OptionEntry[] {
  return [...(entry.options ?? []).filter(({ hidden }) => !hidden), ...globalOptions];
}

/** Text inside single quotes of a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The command that prints names, one a line. */
export function namesOf(kind: string): string {
  return `carrel __names${kind === 'sandboxes' ? '' : ` ${kind}`} 2>/dev/null`;
}

/** The same for what is in a sandbox: its snapshots, or its files. `of` is words of the shell. */
export function namesWithin(kind: 'snapshots' | 'inside', of: string): string {
  return `carrel __names ${kind} ${of} 2>/dev/null`;
}

/** The first words of all commands: commands of one word, and groups. */
export function firstWords(
  entries: readonly CommandEntry[],
  groups: readonly GroupEntry[],
): (CommandEntry | GroupEntry)[] {
  const firsts = entries.map((entry) => groups.find((group) => isIn(entry, group)) ?? entry);
  return [...new Set(firsts)];
}

export function isIn({ name }: CommandEntry, group: GroupEntry): boolean {
  return name.startsWith(`${group.name} `);
}

/** The second word of a command of two, the only one of others. */
export function lastWord({ name }: CommandEntry): string {
  return name.split(' ').at(-1)!;
}

export interface ValuedFlag {
  readonly flag: string;
  /** The one command in which it has a value; null: it has one in every command that knows it. */
  readonly command: string | null;
}

/** Flags with a value after them, which is no operand. */
export function valuedFlags(entries: readonly CommandEntry[]): ValuedFlag[] {
  const all = [...globalOptions.map((option) => spelled(option, null)), ...entries.flatMap(spelledOptions)].flat();
  const bare = new Set(all.filter(({ takesValue }) => !takesValue).map(({ flag }) => flag));
  const valued = all.filter(({ takesValue }) => takesValue);
  const unique = new Map<string, ValuedFlag>();
  for (const { flag, command } of valued) {
    const where = bare.has(flag) ? command : null;
    unique.set(`${where}:${flag}`, { flag, command: where });
  }
  return [...unique.values()];
}

function spelledOptions({ name, options = [] }: CommandEntry): ReturnType<typeof spelled>[] {
  return options.map((option) => spelled(option, name));
}

function spelled(option: OptionEntry, command: string | null): (ValuedFlag & { takesValue: boolean })[] {
  const { long, short, takesValue } = flagsOf(option);
  return [long, ...(short ? [short] : [])].map((flag) => ({ flag, command, takesValue }));
}
