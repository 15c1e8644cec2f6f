import type { CommandEntry, OptionEntry } from '../commands.ts';
import { flagsOf, globalOptions } from './word.ts';

export function fish(entries: readonly CommandEntry[]): string {
  const names = entries.map(({ name }) => name).join(' ');
  const fresh = `not __fish_seen_subcommand_from ${names} help`;
  return [
    '# fish completion for carrel; load it with: carrel completion fish | source',
    'complete -c carrel -f',
    ...entries.map(({ name, summary }) => complete(fresh, `-a ${name}`, summary)),
    complete(fresh, '-a help', 'explain a command'),
    complete('__fish_seen_subcommand_from help', `-a ${text(names)}`, 'command'),
    ...globalOptions.map((one) => complete(null, flags(one), one.summary)),
    ...entries.flatMap((entry) => [...offered(entry), ...options(entry)]),
    '',
  ].join('\n');
}

function offered({ name, completes }: CommandEntry): string[] {
  const here = `__fish_seen_subcommand_from ${name}`;
  if (completes === undefined) return [];
  if (typeof completes === 'object') return [complete(here, `-a ${text(completes.join(' '))}`, name)];
  if (completes === 'files') return [complete(here, '-F', 'file')];
  if (completes === 'sandbox-files') return [complete(here, `-F -a '(carrel __names 2>/dev/null)'`, 'sandbox')];
  if (completes === 'sandboxes' || completes === 'sandbox')
    return [complete(here, `-a '(carrel __names 2>/dev/null)'`, 'sandbox')];
  return [complete(here, `-F -a '(carrel __names 2>/dev/null | string replace -r "\\$" ":")'`, 'sandbox')];
}

function options({ name, options: all = [] }: CommandEntry): string[] {
  const shown = all.filter(({ hidden }) => !hidden);
  return shown.map((one) => complete(`__fish_seen_subcommand_from ${name}`, flags(one), one.summary));
}

function flags(option: OptionEntry): string {
  const { long, short, takesValue } = flagsOf(option);
  const letters = short ? ` -s ${short.slice(1)}` : '';
  const value = option.choices ? ` -x -a ${text(option.choices.join(' '))}` : takesValue ? ' -r -F' : '';
  return `-l ${long.slice(2)}${letters}${value}`;
}

function complete(condition: string | null, what: string, summary: string): string {
  const when = condition === null ? '' : ` -n ${text(condition)}`;
  return `complete -c carrel${when} ${what} -d ${text(summary)}`;
}

function text(words: string): string {
  return `'${words.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
