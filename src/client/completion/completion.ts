/**
 * Completion scripts for shells, written from the tables of commands (`cli.ts`): `bash.ts`, `fish.ts` and `zsh.ts` each
 * have one function from a table to the text of a script. This file has what they share, and the options that every
 * command takes.
 *
 * A script has the words, options and files; for names of sandboxes, projects and the like it runs `carrel __names`,
 * which starts no daemon and prints nothing on an error. Commands and options that are hidden are not offered.
 */
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

/** The command that prints the snapshots or the files of a sandbox, one a line. `of` is shell text that names it. */
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

/** The second word of a two-word command; the only word of any other. */
export function lastWord({ name }: CommandEntry): string {
  return name.split(' ').at(-1)!;
}

export interface ValuedFlag {
  readonly flag: string;
  /** The only command in which the flag takes a value; null: it takes one in every command that has it. */
  readonly command: string | null;
}

/** Flags that are followed by a value, so that completion does not count this value as an operand. */
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
