/** Text from outside made safe and fitting for a terminal. */
const harmful =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const thin = /\p{Mn}|\p{Me}/u;
// Our own colours take no room.
const colours = /\u001b\[\d+m/g;

/** One harmless line: control and direction characters are shown as escapes, nothing is quoted. */
export function plain(text: string): string {
  return text.replace(harmful, (found) => short[found] ?? `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Like `plain`, but keeps line ends. */
export function plainLines(text: string): string {
  return text.split('\n').map(plain).join('\n');
}

/** The columns that text takes on a terminal. */
export function width(text: string): number {
  let columns = 0;
  for (const character of text.replace(colours, '')) columns += columnsOf(character);
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

/** A command as one could type it. */
export function commandLine(command: readonly string[]): string {
  return command
    .map((word) => plain(/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}

function columnsOf(character: string): number {
  if (character < '\u0300') return 1;
  if (thin.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}
