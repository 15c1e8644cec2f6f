import type { CommandEntry, OptionEntry } from '../commands.ts';
import { flagsOf, globalOptions, optionsOf, quoted } from './word.ts';

export function zsh(entries: readonly CommandEntry[]): string {
  return `#compdef carrel
# zsh completion for carrel; load it with: source <(carrel completion zsh)
_carrel_sandboxes() {
  local -a names
  names=(\${(f)"$(carrel __names 2>/dev/null)"})
  compadd -a names
}
_carrel_places() {
  local -a names
  names=(\${(f)"$(carrel __names 2>/dev/null)"})
  compadd -S '' -- \${^names}:
  _files
}
_carrel_commands() {
  local -a commands
  commands=(
${entries.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`).join('\n')}
    'help:explain a command'
  )
  _describe command commands
}
_carrel() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C ${globalOptions.map(argument).join(' ')} '--version[print the version]' '1: :_carrel_commands' '*:: :->rest'
  [[ $state == rest ]] || return
  if (( \${words[(I)--]} && \${words[(I)--]} < CURRENT )); then
    _files
    return
  fi
  case $line[1] in
    help) _carrel_commands ;;
${entries.map(branch).join('\n')}
  esac
}
if [[ $funcstack[1] == _carrel ]]; then _carrel "$@"; else compdef _carrel carrel; fi
`;
}

function branch(entry: CommandEntry): string {
  const options = optionsOf(entry).map(argument).join(' ');
  return `    ${entry.name}) _arguments ${options} ${operands(entry)} ;;`;
}

function operands(entry: CommandEntry): string {
  const first = quoted('1:sandbox:_carrel_sandboxes');
  if (entry.completes === 'sandbox') return `${first} ${quoted(`*:${entry.name}:`)}`;
  if (entry.completes === 'sandbox-files') return `${first} ${quoted('*:path:_files')}`;
  return quoted(`*:${entry.name}:${action(entry.completes)}`);
}

function action(completes: Exclude<CommandEntry['completes'], 'sandbox' | 'sandbox-files'>): string {
  if (completes === undefined) return '';
  if (typeof completes === 'object') return `(${completes.join(' ')})`;
  return { sandboxes: '_carrel_sandboxes', places: '_carrel_places', files: '_files' }[completes];
}

function argument(option: OptionEntry): string {
  const { long, short, takesValue } = flagsOf(option);
  const text = `[${option.summary.replace(/[[\]]/g, '')}]`;
  const value = takesValue ? `:value:${option.choices ? `(${option.choices.join(' ')})` : '_files'}` : '';
  const star = option.repeat ? '*' : '';
  return [long, ...(short ? [short] : [])].map((flag) => quoted(`${star}${flag}${text}${value}`)).join(' ');
}
