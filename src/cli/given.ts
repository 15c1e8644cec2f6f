/** What the API calls a field, in the words of whoever typed the command. */
import { Fault } from '../model/fault.ts';
import type { CommandEntry } from './cli.ts';

/** What is neither an option nor an argument. */
const others: Readonly<Record<string, string>> = { command: 'the command', author: 'the author' };

/** The same refusal, naming the option or argument that it is about where the command has one. */
export function asGiven(fault: Fault, entry: CommandEntry): Fault {
  const { field } = fault.data ?? {};
  if (typeof field !== 'string' || !fault.message.startsWith(field)) return fault;
  const name = nameOf(field, entry);
  if (name === undefined) return fault;
  const hint = fault.hint ?? `carrel help ${entry.name}`;
  return new Fault(fault.code, `${name}${fault.message.slice(field.length)}`, { cause: fault, hint });
}

/** The outermost that was typed: what stands below it came with it. */
function nameOf(field: string, entry: CommandEntry): string | undefined {
  const typed = typedNames(entry);
  for (const word of field.split('.')) {
    const spelled = kebab(word);
    const found =
      others[word] ?? likeness.map((isLike) => typed.find((name) => isLike(spelled, key(name)))).find(Boolean);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The closest first: `names` is NAME, `branchName` is BRANCH before it is NAME, `hostAddress` is --address. */
const likeness: readonly ((word: string, name: string) => boolean)[] = [
  (word, name) => word === name,
  (word, name) => word === `${name}s`,
  (word, name) => word.startsWith(`${name}-`),
  (word, name) => word.endsWith(`-${name}`),
];

function typedNames({ options = [], args = '' }: CommandEntry): string[] {
  const flags = options.map(({ flags }) => /--[a-z-]+/.exec(flags)![0]);
  return [...flags, ...[...args.matchAll(/[<[]([A-Z:-]+)/g)].map(([, name]) => name!)];
}

function key(name: string): string {
  return name.replace(/^--/, '').toLowerCase();
}

/** Without the unit. */
function kebab(word: string): string {
  return word.replace(/(Ms|Bytes)$/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
