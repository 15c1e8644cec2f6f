/** The `carrel` commands that Markdown shows: those of `sh` blocks, and those in backticks. */

export interface Fence {
  readonly language: string;
  readonly text: string;
}

/** Code blocks in the order of the file. */
export function fences(markdown: string): Fence[] {
  return [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, text]) => ({
    language: language!,
    text: text!,
  }));
}

/** `carrel …` in backticks, outside of code blocks. */
export function inlineCommands(markdown: string): string[] {
  const prose = markdown.replace(/^```.*?^```$/gms, '');
  return [...prose.matchAll(/`((?:bin\/)?carrel [^`]+)`/g)].map(([, text]) => text!);
}

/** The arguments of each `carrel` in a script. */
export function carrelCommands(script: string): string[][] {
  const inner = [...script.matchAll(/\$\(([^()]*)\)/g)].flatMap(([, text]) => carrelCommands(text!));
  const own = simpleCommands(script.replace(/\$\([^()]*\)/g, 'X'))
    .filter(([word]) => /^(bin\/)?carrel$/.test(word ?? ''))
    .map((words) => words.slice(1));
  return [...own, ...inner];
}

const token =
  /(?<blank>[ \t]+|\\\n)|(?<comment>#[^\n]*)|(?<redirect>\d?[<>]+&?[ \t]*[^\s;|&]*)|(?<end>[\n;&|(){}]+)|(?<word>(?:'[^']*'|"(?:\\.|[^"])*"|\\.|[^\s;&|<>(){}'"\\])+)/gs;

/**
 * Splits a script at `;`, `|`, `&` and ends of lines into commands: words without quotes, comments and redirections.
 */
function simpleCommands(script: string): string[][] {
  const commands: string[][] = [[]];
  for (const { groups } of script.matchAll(token)) {
    if (groups?.end !== undefined) commands.push([]);
    if (groups?.word !== undefined) commands.at(-1)!.push(unquoted(groups.word));
  }
  return commands.filter(({ length }) => length > 0);
}

function unquoted(word: string): string {
  return word.replace(
    /'([^']*)'|"((?:\\.|[^"])*)"|\\(.)/gs,
    (_, single, double, escaped) => single ?? double ?? escaped,
  );
}
