/** The README with its table of commands, which is the only part of it that is made from code. */
import { readFileSync } from 'node:fs';
import { areas } from '../../src/noun/cli.ts';
import { table } from './schema.ts';

/** Cuts the README at its table. */
const tableOfCommands = /^\| area \| commands \|\n(?:\|.*\n)+/m;

export function readmePage(): string {
  const text = readFileSync('README.md', 'utf8');
  if (!tableOfCommands.test(text)) throw new Error('README.md has no table that begins with "| area | commands |"');
  return text.replace(tableOfCommands, () => `${table(['area', 'commands'], rows())}\n`);
}

/** Areas with the same heading share a row. `help` is in no area. */
function rows(): string[][] {
  const names = new Map<string, string[]>();
  for (const { heading, commands } of areas) {
    const shown = commands.filter(({ hidden }) => !hidden).map(({ name }) => name);
    names.set(heading, [...(names.get(heading) ?? []), ...shown]);
  }
  names.get('Getting started:')?.push('help');
  return [...names].map(([heading, all]) => [label(heading), cells(all)]);
}

/** `Getting started:` → `getting started`; an abbreviation stays. */
function label(heading: string): string {
  return heading.replace(/:$/, '').replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());
}

/** `net allow`, `net deny` → `net allow|deny`. */
function cells(names: readonly string[]): string {
  const words = new Map<string, string[]>();
  for (const name of names) {
    const [first, ...rest] = name.split(' ') as [string, ...string[]];
    words.set(first, [...(words.get(first) ?? []), ...(rest.length > 0 ? [rest.join(' ')] : [])]);
  }
  return [...words].map(([first, rest]) => `\`${[first, rest.join('|')].join(' ').trim()}\``).join(' ');
}
