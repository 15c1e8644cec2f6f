import type { CommandEntry, CommandTable, GroupEntry, OptionEntry } from '../cli.ts';
import {
  firstWords,
  flagsOf,
  globalOptions,
  isIn,
  lastWord,
  namesOf,
  namesWithin,
  type ValuedFlag,
  valuedFlags,
} from './completion.ts';

export function fish({ commands: entries, groups }: CommandTable): string {
  const first = firstWords(entries, groups);
  const names = first.map(({ name }) => name).join(' ');
  return [
    '# fish completion for carrel; load it with: carrel completion fish | source',
    position(entries, groups),
    'complete -c carrel -f',
    ...first.map(({ name, summary }) => complete(at(''), `-a ${name}`, summary)),
    complete(at(''), '-a help', 'explain a command'),
    complete(at('help'), `-a ${text(names)}`, 'command'),
    ...globalOptions.map((one) => complete(null, flags(one), one.summary)),
    ...groups.flatMap((group) => nextWords(group, entries)),
    ...entries.flatMap((entry) => [...offered(entry), ...options(entry)]),
    '',
  ].join('\n');
}

/** A function of fish: whether the words before the cursor, without options, begin with exactly this command. */
function position(entries: readonly CommandEntry[], groups: readonly GroupEntry[]): string {
  return `function __carrel_at
    set -l words
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch "$words:$word"
            case '*:--'
                break
            case ${valuedFlags(entries).map(flagPattern).join(' ')}
                set skip 1
            case '*:-*'
            case '*'
                set -a words $word
        end
    end
    if contains -- "$words[1]" ${[...groups.map(({ name }) => name), 'help'].join(' ')}
        test "$words[1..2]" = "$argv"
    else
        test "$words[1]" = "$argv"
    end
end`;
}

/** A pattern of fish: the text before its colon is the command with its operands, the text after it is the flag. */
function flagPattern({ flag, command }: ValuedFlag): string {
  return command === null ? `'*:${flag}'` : `'${command}:${flag}' '${command} *:${flag}'`;
}

function nextWords(group: GroupEntry, entries: readonly CommandEntry[]): string[] {
  const inside = entries.filter((entry) => isIn(entry, group));
  return [at(group.name), at(`help ${group.name}`)].flatMap((here) =>
    inside.map((entry) => complete(here, `-a ${lastWord(entry)}`, entry.summary)),
  );
}

function offered({ name, completes }: CommandEntry): string[] {
  const here = at(name);
  if (completes === undefined) return [];
  if (typeof completes === 'object') return [complete(here, `-a ${text(completes.join(' '))}`, name)];
  const sandboxes = namesOf('sandboxes');
  switch (completes) {
    case 'files':
      return [complete(here, '-F', 'file')];
    case 'places':
      return [
        complete(here, `-F -a '(${sandboxes} | string replace -r "\\$" ":")'`, 'sandbox'),
        complete(here, `-a '(${namesWithin('inside', '(commandline -ct)')})'`, 'file inside'),
      ];
    case 'sandbox-snapshots':
      return [
        complete(here, `-a '(test (count (commandline -opc)) -lt 3; and ${sandboxes})'`, 'sandbox'),
        complete(here, `-a '(${namesWithin('snapshots', '(commandline -opc)[3]')})'`, 'snapshot'),
      ];
    case 'sandbox-files':
      return [complete(here, `-F -a '(${sandboxes})'`, 'sandbox')];
    case 'sandbox':
    case 'sandboxes':
      return [complete(here, `-a '(${sandboxes})'`, 'sandbox')];
    default:
      return [complete(here, `-a '(${namesOf(completes)})'`, completes.slice(0, -1))];
  }
}

function options({ name, options: all = [] }: CommandEntry): string[] {
  const shown = all.filter(({ hidden }) => !hidden);
  return shown.map((one) => complete(at(name), flags(one), one.summary));
}

function flags(option: OptionEntry): string {
  const { long, short } = flagsOf(option);
  const letters = short ? ` -s ${short.slice(1)}` : '';
  return `-l ${long.slice(2)}${letters}${value(option)}`;
}

function value(option: OptionEntry): string {
  if (option.choices) return ` -x -a ${text(option.choices.join(' '))}`;
  if (option.completes) return ` -x -a '(${namesOf(option.completes)})'`;
  return flagsOf(option).takesValue ? ' -r -F' : '';
}

function at(command: string): string {
  return `__carrel_at ${command === '' ? "''" : command}`;
}

function complete(condition: string | null, what: string, summary: string): string {
  const when = condition === null ? '' : ` -n ${text(condition)}`;
  return `complete -c carrel${when} ${what} -d ${text(summary)}`;
}

function text(words: string): string {
  return `'${words.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
