/** Reads the words before the cursor: the command, its arguments, and the option whose value the cursor is at. */
import { canonicalVerb } from '../../model/command-word.ts';
import type { CommandEntry, CommandTable, GroupEntry, OptionEntry } from '../cli.ts';
import { flagsOf, globalOptions } from './completion.ts';

export interface Typed {
  /** Whether the words begin with `help`. */
  readonly isHelp: boolean;
  /** The words of the command so far: none, that of a group, or all. */
  readonly words: readonly string[];
  readonly entry: CommandEntry | undefined;
  readonly group: GroupEntry | undefined;
  readonly operands: readonly string[];
  /** The flags that are there already. */
  readonly flags: ReadonlySet<string>;
  /** The option whose value follows. */
  readonly option: OptionEntry | undefined;
  /** Whether what follows is not for carrel: the command for a sandbox, or paths. */
  readonly isPast: boolean;
}

export function readTyped(table: CommandTable, before: readonly string[]): Typed {
  const words: string[] = [];
  const operands: string[] = [];
  const flags = new Set<string>();
  let [isHelp, isPast]: [boolean, boolean] = [false, false];
  let option: OptionEntry | undefined;
  let entry: CommandEntry | undefined;
  const group = () => table.groups.find(({ name }) => name === words[0]);
  for (const word of before) {
    if (option) option = undefined;
    else if (word === '--') isPast = true;
    else if (/^-./.test(word)) {
      flags.add(word);
      option = optionAt(word, entry);
    } else if (entry) operands.push(word);
    else if (word === 'help' && words.length === 0 && !isHelp) isHelp = true;
    else {
      words.push(canonicalVerb(word));
      entry = table.commands.find(({ name, hidden }) => name === words.join(' ') && !hidden);
    }
    isPast ||= entry?.commandAfter !== undefined && operands.length > entry.commandAfter;
  }
  return { isHelp, words, entry, group: group(), operands, flags, option, isPast };
}

export function optionsOf(entry: CommandEntry | undefined): readonly OptionEntry[] {
  return [...(entry?.options ?? []).filter(({ hidden }) => !hidden), ...globalOptions];
}

/** The option that takes the next word as its value: `--tail`, `-n`, or `-fn`. */
function optionAt(word: string, entry: CommandEntry | undefined): OptionEntry | undefined {
  return optionsOf(entry).find((option) => {
    const { long, short, takesValue } = flagsOf(option);
    const isCluster = short !== null && /^-[a-zA-Z]+$/.test(word) && word.endsWith(short.slice(1));
    return takesValue && (word === long || isCluster);
  });
}
