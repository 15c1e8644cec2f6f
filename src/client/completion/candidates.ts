/** What can follow the words that are typed up to the cursor. */
import type { CommandEntry, CommandTable, OptionEntry } from '../cli.ts';
import { flagsOf } from './completion.ts';
import { optionsOf, readTyped, type Typed } from './typed.ts';

export interface Candidate {
  readonly word: string;
  /** A description; empty: there is none. */
  readonly about: string;
}

export interface Candidates {
  readonly words: readonly Candidate[];
  /** Whether the shell offers files or folders of this machine, too. */
  readonly paths: 'files' | 'folders' | null;
  /** Whether a word may go on after the candidate, so that no space follows it. */
  readonly goesOn: boolean;
}

/** The names of a kind; `of` is the sandbox, or the place in it. */
export type ListNames = (kind: string, of?: string) => Promise<readonly string[]>;

const nothing: Candidates = { words: [], paths: null, goesOn: false };
const files: Candidates = { ...nothing, paths: 'files' };

/** `typed` are the words after `carrel`; the last one is what stands before the cursor, which may be empty. */
export async function candidatesAt(
  table: CommandTable,
  typed: readonly string[],
  list: ListNames,
): Promise<Candidates> {
  const word = typed.at(-1) ?? '';
  const found = await allAt(table, readTyped(table, typed.slice(0, -1)), word, list);
  return { ...found, words: found.words.filter((candidate) => candidate.word.startsWith(word)) };
}

async function allAt(table: CommandTable, typed: Typed, word: string, list: ListNames): Promise<Candidates> {
  const { entry, option, isPast, isHelp } = typed;
  if (option) return valuesOf(option, list);
  if (isPast) return files;
  const [flag, value] = word.split('=', 2) as [string, string?];
  const assigned = value === undefined ? undefined : optionsOf(entry).find((one) => flagsOf(one).long === flag);
  if (assigned) return assignedTo(`${flag}=`, await valuesOf(assigned, list));
  if (word.startsWith('-')) return isHelp ? nothing : { ...nothing, words: flagsAt(typed) };
  if (!entry) return { ...nothing, words: commandsAt(table, typed) };
  if (entry.commandAfter === typed.operands.length) return files;
  return isHelp ? nothing : argumentOf(entry, typed.operands, word, list);
}

async function valuesOf({ choices, completes, ...option }: OptionEntry, list: ListNames): Promise<Candidates> {
  if (choices) return { ...nothing, words: named(choices) };
  if (completes === 'folders') return { ...nothing, paths: 'folders' };
  if (completes) return { ...nothing, words: named(await list(completes)) };
  return flagsOf(option).takesValue ? files : nothing;
}

/** The shell completes a path after `--flag=` by itself. */
function assignedTo(flag: string, { words, paths }: Candidates): Candidates {
  return { words: words.map(({ word, about }) => ({ word: `${flag}${word}`, about })), paths, goesOn: false };
}

function flagsAt({ entry, words, flags }: Typed): Candidate[] {
  const version = words.length === 0 ? [{ word: '--version', about: 'print the version' }] : [];
  const offered = optionsOf(entry).filter((option) => {
    const { long, short } = flagsOf(option);
    return option.repeat || !(flags.has(long) || (short !== null && flags.has(short)));
  });
  const all = offered.flatMap((option) => {
    const { long, short } = flagsOf(option);
    return [long, ...(short ? [short] : [])].map((word) => ({ word, about: option.summary }));
  });
  return [...all, ...version];
}

/** The first words of all commands, or the second words of a group. */
function commandsAt({ commands, groups }: CommandTable, { words, group, isHelp }: Typed): Candidate[] {
  const shown = commands.filter(({ hidden }) => !hidden);
  if (group && words.length === 1) {
    const inside = shown.filter(({ name }) => name.startsWith(`${group.name} `));
    return inside.map(({ name, summary }) => ({ word: name.slice(group.name.length + 1), about: summary }));
  }
  if (words.length > 0) return [];
  const firsts = shown.map((entry) => groups.find(({ name }) => entry.name.startsWith(`${name} `)) ?? entry);
  const all = [...new Set(firsts)].map(({ name, summary }) => ({ word: name, about: summary }));
  return isHelp ? all : [...all, { word: 'help', about: 'explain a command' }];
}

async function argumentOf(
  { completes, args = '' }: CommandEntry,
  operands: readonly string[],
  word: string,
  list: ListNames,
): Promise<Candidates> {
  const place = operands.length;
  if (!args.includes('...') && place >= args.split(' ').length) return nothing;
  const kind = typeof completes === 'string' && place > 0 ? completes.replace(/^sandbox-/, '') : completes;
  if (kind === undefined || (kind === 'sandbox' && place > 0)) return nothing;
  if (typeof kind !== 'string') return place > 0 ? nothing : { ...nothing, words: named(kind) };
  switch (kind) {
    case 'files':
      return files;
    case 'places':
      return placeOf(word, list);
    case 'snapshots':
      return { ...nothing, words: named(await list('snapshots', operands[0])) };
    default: {
      const names = await list(kind.startsWith('sandbox') ? 'sandboxes' : kind);
      return { ...nothing, words: named(names.filter((name) => !operands.includes(name))) };
    }
  }
}

/** A file here, or NAME:PATH. */
async function placeOf(word: string, list: ListNames): Promise<Candidates> {
  if (word.includes(':')) return { words: named(await list('inside', word)), paths: null, goesOn: true };
  const names = await list('sandboxes');
  return { words: named(names.map((name) => `${name}:`)), paths: 'files', goesOn: true };
}

function named(words: readonly string[]): Candidate[] {
  return words.map((word) => ({ word, about: '' }));
}
