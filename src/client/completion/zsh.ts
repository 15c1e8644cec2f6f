import type { CommandEntry, CommandTable, GroupEntry, OptionEntry } from '../cli.ts';
import {
  firstWords,
  flagsOf,
  globalOptions,
  isIn,
  lastWord,
  namesOf,
  namesWithin,
  optionsOf,
  quoted,
} from './completion.ts';

export function zsh({ commands: entries, groups, names }: CommandTable): string {
  const alone = entries.filter((entry) => !groups.some((group) => isIn(entry, group)));
  return `#compdef carrel
# zsh completion for carrel; load it with: source <(carrel completion zsh)
${Object.keys(names).map(namesFunction).join('\n')}
_carrel_snapshots() {
  local -a names
  names=(\${(f)"$(${namesWithin('snapshots', `"\${\${(@)words[2,-1]:#-*}[1]}"`)})"})
  compadd -a names
}
_carrel_places() {
  local -a names
  if [[ $PREFIX == *:* ]]; then
    names=(\${(f)"$(${namesWithin('inside', '"$PREFIX"')})"})
    compadd -S '' -a names
    return
  fi
  names=(\${(f)"$(${namesOf('sandboxes')})"})
  compadd -S '' -- \${^names}:
  _files
}
_carrel_commands() {
  local -a commands
  commands=(
${firstWords(entries, groups)
  .map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`)
  .join('\n')}
    'help:explain a command'
  )
  _describe command commands
}
${groups.map((group) => groupFunctions(group, entries)).join('\n')}
_carrel_help() {
  case $words[2] in
${groups.map(({ name }) => `    ${name}) (( CURRENT > 2 )) && _carrel_${name}_commands && return ;;`).join('\n')}
  esac
  (( CURRENT == 2 )) && _carrel_commands
}
_carrel() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C ${globals()} '--version[print the version]' '1: :_carrel_commands' '*:: :->rest'
  [[ $state == rest ]] || return
  if (( \${words[(I)--]} && \${words[(I)--]} < CURRENT )); then
    _files
    return
  fi
  case $line[1] in
    help) _carrel_help ;;
${[...groups.map(({ name }) => `    ${name}) _carrel_${name} ;;`), ...alone.map(branch)].join('\n')}
  esac
}
if [[ $funcstack[1] == _carrel ]]; then _carrel "$@"; else compdef _carrel carrel; fi
`;
}

function namesFunction(kind: string): string {
  return `_carrel_${kind}() {
  local -a names
  names=(\${(f)"$(${namesOf(kind)})"})
  compadd -a names
}`;
}

function groupFunctions(group: GroupEntry, entries: readonly CommandEntry[]): string {
  const inside = entries.filter((entry) => isIn(entry, group));
  return `_carrel_${group.name}_commands() {
  local -a commands
  commands=(
${inside.map((entry) => `    ${quoted(`${lastWord(entry)}:${entry.summary}`)}`).join('\n')}
  )
  _describe command commands
}
_carrel_${group.name}() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C ${globals()} '1: :_carrel_${group.name}_commands' '*:: :->rest'
  [[ $state == rest ]] || return
  case $line[1] in
${inside.map(branch).join('\n')}
  esac
}`;
}

function globals(): string {
  return globalOptions.map(argument).join(' ');
}

function branch(entry: CommandEntry): string {
  const options = optionsOf(entry).map(argument).join(' ');
  return `    ${lastWord(entry)}) _arguments ${options} ${operands(entry)} ;;`;
}

function operands(entry: CommandEntry): string {
  const first = quoted('1:sandbox:_carrel_sandboxes');
  const what = lastWord(entry);
  if (entry.completes === 'sandbox') return `${first} ${quoted(`*:${what}:`)}`;
  if (entry.completes === 'sandbox-files') return `${first} ${quoted('*:path:_files')}`;
  if (entry.completes === 'sandbox-snapshots') return `${first} ${quoted('2:snapshot:_carrel_snapshots')}`;
  return quoted(`*:${what}:${action(entry.completes)}`);
}

function action(completes: CommandEntry['completes']): string {
  if (completes === undefined) return '';
  if (typeof completes === 'object') return `(${completes.join(' ')})`;
  return completes === 'files' ? '_files' : `_carrel_${completes}`;
}

function argument(option: OptionEntry): string {
  const { long, short, takesValue } = flagsOf(option);
  const text = `[${option.summary.replace(/[[\]]/g, '')}]`;
  const value = takesValue ? `:value:${action(option.choices ?? option.completes ?? 'files')}` : '';
  const star = option.repeat ? '*' : '';
  return [long, ...(short ? [short] : [])].map((flag) => quoted(`${star}${flag}${text}${value}`)).join(' ');
}
