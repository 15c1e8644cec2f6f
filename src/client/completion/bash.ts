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
  type ValuedFlag,
  valuedFlags,
} from './completion.ts';

export function bash({ commands: entries, groups, names }: CommandTable): string {
  const first = firstWords(entries, groups).map(({ name }) => name);
  const group = `@(${groups.map(({ name }) => name).join('|')})`;
  return `# bash completion for carrel; load it with: source <(carrel completion bash)
_carrel() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= helping= operands=0 operand= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case $command:\${COMP_WORDS[i]} in
      *:--) compopt -o default; return ;;
      ${valuedFlags(entries).map(flagPattern).join(' | ')}) ((i++)) ;;
      *:-*) ;;
      *) if [[ -z $command && -z $helping && \${COMP_WORDS[i]} == help ]]; then helping=1
         elif [[ -z $command ]]; then command=\${COMP_WORDS[i]}
         elif [[ $command == ${group} ]]; then command+=" \${COMP_WORDS[i]}"
         else ((++operands)); operand=\${COMP_WORDS[i]}; fi ;;
    esac
  done
  [[ $helping && $command && $command != ${group} ]] && return
  local options=${quoted(words(globalOptions))} arguments= kind=
  case $command in
    '') arguments=${quoted([...first, 'help'].join(' '))} ;;
${[...groups.map((one) => groupBranch(one, entries)), ...entries.map(branch)].join('\n')}
  esac
  case $command:$prev in
    *:--home) compopt -o dirnames; return ;;
    *:--user) COMPREPLY=($(compgen -W "$(${namesOf('users')})" -- "$cur")); return ;;
${entries.flatMap(values).join('\n')}
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
    return
  fi
  [[ $kind == sandbox* && $kind != sandboxes && $operands -gt 0 ]] && kind=\${kind#sandbox} kind=\${kind#-}
  case $kind in
    sandboxes | sandbox | sandbox-files | sandbox-snapshots) arguments=$(${namesOf('sandboxes')}) ;;
    ${Object.keys(names)
      .filter((kind) => kind !== 'sandboxes')
      .join(' | ')}) arguments=$(carrel __names $kind 2>/dev/null) ;;
    snapshots) arguments=$(${namesWithin('snapshots', '"$operand"')}) ;;
    places)
      # A colon takes words apart here, so the word is read from the line.
      compopt -o nospace; cur=\${COMP_LINE:0:COMP_POINT} cur=\${cur##* }
      if [[ $cur == *:* ]]; then
        COMPREPLY=($(compgen -W "$(${namesWithin('inside', '"$cur"')})" -- "$cur"))
        [[ $COMP_WORDBREAKS == *:* ]] && COMPREPLY=("\${COMPREPLY[@]#"\${cur%%:*}:"}")
        return
      fi
      compopt -o default; arguments=$(${namesOf('sandboxes')} | sed 's/$/:/') ;;
    files) compopt -o default ;;
  esac
  COMPREPLY=($(compgen -W "$arguments" -- "$cur"))
}
complete -F _carrel carrel
`;
}

function flagPattern({ flag, command }: ValuedFlag): string {
  return `${command === null ? '*' : pattern(command)}:${flag}`;
}

function groupBranch(group: GroupEntry, entries: readonly CommandEntry[]): string {
  const next = entries.filter((entry) => isIn(entry, group)).map(lastWord);
  return `    ${group.name}) arguments=${quoted(next.join(' '))} ;;`;
}

function branch(entry: CommandEntry): string {
  const { name, completes } = entry;
  const fixed = typeof completes === 'object' ? `; arguments=${quoted(completes.join(' '))}` : '';
  const kind = typeof completes === 'string' ? `; kind=${completes}` : '';
  return `    ${pattern(name)}) options=${quoted(words(optionsOf(entry)))}${fixed}${kind} ;;`;
}

function values({ name, options = [] }: CommandEntry): string[] {
  return options.filter((option) => flagsOf(option).takesValue).map((option) => valueBranch(name, option));
}

function valueBranch(name: string, option: OptionEntry): string {
  const { long, short } = flagsOf(option);
  const patterns = [long, ...(short ? [short] : [])].map((flag) => `${pattern(name)}:${flag}`).join('|');
  return `    ${patterns}) ${reply(option)}; return ;;`;
}

function reply({ choices, completes }: OptionEntry): string {
  if (choices) return `COMPREPLY=($(compgen -W ${quoted(choices.join(' '))} -- "$cur"))`;
  if (completes) return `COMPREPLY=($(compgen -W "$(${namesOf(completes)})" -- "$cur"))`;
  return 'compopt -o default';
}

function pattern(name: string): string {
  return name.replaceAll(' ', '\\ ');
}

function words(options: readonly OptionEntry[]): string {
  return options.map((option) => flagsOf(option).long).join(' ');
}
