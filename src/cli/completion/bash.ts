import type { CommandEntry, OptionEntry } from '../commands.ts';
import { flagsOf, globalOptions, optionsOf, quoted } from './word.ts';

export function bash(entries: readonly CommandEntry[]): string {
  return `# bash completion for carrel; load it with: source <(carrel completion bash)
_carrel() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= operands=0 i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      --) compopt -o default; return ;;
      ${valued(entries)}) ((i++)) ;;
      -*) ;;
      *) if [[ -z $command ]]; then command=\${COMP_WORDS[i]}; else ((++operands)); fi ;;
    esac
  done
  local options=${quoted(words(globalOptions))} arguments= kind=
  case $command in
    '') arguments=${quoted(names(entries))} ;;
    help) arguments=${quoted(names(entries))} ;;
${entries.map(branch).join('\n')}
  esac
  case $command:$prev in
    *:--home) compopt -o dirnames; return ;;
${entries.flatMap(values).join('\n')}
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
    return
  fi
  [[ $kind == sandbox* && $kind != sandboxes && $operands -gt 0 ]] && kind=\${kind#sandbox} kind=\${kind#-}
  case $kind in
    sandboxes | sandbox | sandbox-files) arguments=$(carrel __names 2>/dev/null) ;;
    places) compopt -o default -o nospace; arguments=$(carrel __names 2>/dev/null | sed 's/$/:/') ;;
    files) compopt -o default ;;
  esac
  COMPREPLY=($(compgen -W "$arguments" -- "$cur"))
}
complete -F _carrel carrel
`;
}

function branch(entry: CommandEntry): string {
  const { name, completes } = entry;
  const fixed = typeof completes === 'object' ? `; arguments=${quoted(completes.join(' '))}` : '';
  const kind = typeof completes === 'string' ? `; kind=${completes}` : '';
  return `    ${name}) options=${quoted(words(optionsOf(entry)))}${fixed}${kind} ;;`;
}

/** Flags with a value after them, which is no operand. None of them stands without one in another command. */
function valued(entries: readonly CommandEntry[]): string {
  const options = [...globalOptions, ...entries.flatMap(({ options: all = [] }) => all)].map(flagsOf);
  const flags = options
    .filter(({ takesValue }) => takesValue)
    .flatMap(({ long, short }) => [long, ...(short ? [short] : [])]);
  return [...new Set(flags)].join(' | ');
}

function values({ name, options = [] }: CommandEntry): string[] {
  return options.filter((option) => flagsOf(option).takesValue).map((option) => valueBranch(name, option));
}

function valueBranch(name: string, option: OptionEntry): string {
  const { long, short } = flagsOf(option);
  const pattern = [long, ...(short ? [short] : [])].map((flag) => `${name}:${flag}`).join('|');
  const reply = option.choices
    ? `COMPREPLY=($(compgen -W ${quoted(option.choices.join(' '))} -- "$cur"))`
    : 'compopt -o default';
  return `    ${pattern}) ${reply}; return ;;`;
}

function names(entries: readonly CommandEntry[]): string {
  return [...entries.map(({ name }) => name), 'help'].join(' ');
}

function words(options: readonly OptionEntry[]): string {
  return options.map((option) => flagsOf(option).long).join(' ');
}
