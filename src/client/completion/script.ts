/** What each shell loads, and how it gets the candidates: a line about files and spaces, then a line for each. */
import type { Candidates } from './candidates.ts';

interface Shell {
  readonly script: string;
  /** The words after `carrel`, from the arguments that the script passes. */
  words(passed: readonly string[]): readonly string[];
  /** `passed` are the same arguments. */
  lines(found: Candidates, passed: readonly string[]): readonly string[];
}

const bash: Shell = {
  // Bash takes words apart at characters such as : and =, so it passes the line, and the characters.
  script: `# bash completion for carrel; load it with: source <(carrel completion bash)
_carrel() {
  local how IFS=$' \\t\\n'
  mapfile -t COMPREPLY < <(carrel __complete bash -- "\${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
  for how in \${COMPREPLY[0]}; do compopt -o "$how"; done
  COMPREPLY=("\${COMPREPLY[@]:1}")
}
complete -F _carrel carrel
`,
  words: ([line = '']) => wordsOf(line),
  lines: ({ words, paths, goesOn }, [line = '', breaks = '']) => {
    const typed = wordsOf(line).at(-1) ?? '';
    const start = Math.max(...[...breaks].map((one) => typed.lastIndexOf(one))) + 1;
    const options = [...(paths === null ? [] : [paths === 'files' ? 'default' : 'dirnames'])];
    return [[...options, ...(goesOn ? ['nospace'] : [])].join(' '), ...words.map(({ word }) => word.slice(start))];
  },
};

const zsh: Shell = {
  script: `#compdef carrel
# zsh completion for carrel; load it with: source <(carrel completion zsh)
_carrel() {
  local -a typed found space
  typed=("\${(@Q)words[2,CURRENT]}")
  typed[-1]=\${(Q)PREFIX}
  found=("\${(@f)$(carrel __complete zsh -- "$typed[@]" 2>/dev/null)}")
  local how=$found[1] tried=1
  shift found
  [[ $how == *nospace* ]] && space=(-S '')
  (( $#found )) && _describe carrel found $space && tried=0
  [[ $how == *(files|folders)* && $PREFIX == --*=* ]] && compset -P 1 '*='
  [[ $how == *files* ]] && _files && tried=0
  [[ $how == *folders* ]] && _files -/ && tried=0
  return tried
}
if [[ $funcstack[1] == _carrel ]]; then _carrel "$@"; else compdef _carrel carrel; fi
`,
  words: (passed) => passed,
  lines: (found) => [
    how(found),
    ...found.words.map(({ word, about }) => `${word.replace(/[\\:]/g, '\\$&')}${about === '' ? '' : `:${about}`}`),
  ],
};

const fish: Shell = {
  script: `# fish completion for carrel; load it with: carrel completion fish | source
function __carrel_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l found (carrel __complete fish -- $words[2..-1] "$current" 2>/dev/null)
    set -l flag (string match -r '^--[^=]*=' -- "$current")
    set -l path (string replace -r '^--[^=]*=' '' -- "$current")
    switch "$found[1]"
        case '*files*'
            string join \\n -- "$flag"(__fish_complete_path "$path")
        case '*folders*'
            string join \\n -- "$flag"(__fish_complete_directories "$path")
    end
    string join \\n -- $found[2..-1]
end
complete -c carrel -f -a '(__carrel_complete)'
`,
  words: (passed) => passed,
  lines: (found) => [how(found), ...found.words.map(({ word, about }) => (about === '' ? word : `${word}\t${about}`))],
};

export const shells: ReadonlyMap<string, Shell> = new Map(Object.entries({ bash, zsh, fish }));

function how({ paths, goesOn }: Candidates): string {
  return [...(paths === null ? [] : [paths]), ...(goesOn ? ['nospace'] : [])].join(' ');
}

/**
 * The words of a line of a POSIX shell after the name of the program; the last one may be empty. A quote that is not
 * closed ends with the line, and nothing is expanded.
 */
export function wordsOf(line: string): string[] {
  const words = [''];
  const parts = line.trimStart().matchAll(/'([^']*)'?|"((?:\\.|[^"\\])*)"?|\\(.?)|(\s+)|([^\s'"\\]+)/gs);
  for (const [, single, double, escaped, gap, bare] of parts) {
    if (gap !== undefined) words.push('');
    else words.push(words.pop() + (single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? bare!));
  }
  const name = words.findIndex((word) => !/^\w+=/.test(word));
  return words.slice(name + 1);
}
