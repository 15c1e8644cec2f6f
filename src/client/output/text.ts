/** Makes foreign text safe for a terminal, and fits text to columns. */
import { codeText, invisible } from '../../model/invisible.ts';

const printableAscii = /^[ -~]*$/;
const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const thin = /\p{Mn}|\p{Me}/u;
// The escape sequences of our colours take no columns.
const colours = /\u001b\[\d+m/g;

/** One safe line: invisible characters, and those that change how others are shown, become escapes. Adds no quotes. */
export function plain(text: string): string {
  if (printableAscii.test(text)) return text;
  return text.replace(invisible, (found) => short[found] ?? codeText(found));
}

/** Like `plain`, but keeps line ends. */
export function plainLines(text: string): string {
  return text.split('\n').map(plain).join('\n');
}

/** Like `plainLines`, but keeps tabs, and turns CR LF into LF. */
export function plainText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .split(/([\n\t])/)
    .map((part) => (part === '\n' || part === '\t' ? part : plain(part)))
    .join('');
}

export function withoutColours(text: string): string {
  return text.replace(colours, '');
}

/** The columns that text takes on a terminal. */
export function width(text: string): number {
  let columns = 0;
  for (const character of withoutColours(text)) columns += columnsOf(character);
  return columns;
}

/** Text cut to a number of columns, the cut shown by an ellipsis. */
export function cut(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let kept = '';
  let used = 0;
  for (const character of text) {
    used += columnsOf(character);
    if (used > columns - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Like `cut`, but keeps the end, which tells paths apart. */
export function cutStart(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let kept = '';
  let used = 0;
  for (const character of [...text].reverse()) {
    used += columnsOf(character);
    if (used > columns - 1) break;
    kept = character + kept;
  }
  return `…${kept}`;
}

/** A command, quoted so that a user can type it in a shell. */
export function commandLine(command: readonly string[]): string {
  return command
    .map((word) => plain(/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}

export function columnsOf(character: string): number {
  if (character < '\u0300') return 1;
  if (thin.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}
