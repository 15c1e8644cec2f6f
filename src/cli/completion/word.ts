import type { CommandEntry, OptionEntry } from '../commands.ts';

/** Options that every command takes. */
export const globalOptions: readonly OptionEntry[] = [
  { flags: '--home <DIR>', summary: 'the installation to use' },
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
