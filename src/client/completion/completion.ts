/**
 * Completion for shells. `carrel completion SHELL` prints a few lines of that shell (`script.ts`), which run the hidden
 * command `carrel __complete SHELL -- …` at each Tab with what is typed up to the cursor and show what it prints.
 *
 * `candidates.ts` finds the candidates in the tables of commands (`cli.ts`): words of commands, options, their values, and
 * names of sandboxes, projects and the like, for which the daemon is asked. No daemon is started for that, and an error
 * prints nothing. Files of this machine are left to the shell, which knows how to quote them. Commands and options that
 * are hidden are not offered. This file has what the parser needs, too: flags and the options that every command takes.
 */
import type { OptionEntry } from '../cli.ts';

/** Options that every command takes. */
export const globalOptions: readonly OptionEntry[] = [
  { flags: '--home <DIR>', summary: 'the installation to use', completes: 'folders' },
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
