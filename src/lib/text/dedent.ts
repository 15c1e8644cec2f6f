/**
 * Removes the indentation of the first line, and an empty line before it, from a text that is indented in the source.
 */
export function dedent(text: string): string {
  const lines = text.replace(/^\n/, '').replace(/ *$/, '').split('\n');
  const indent = /^ */.exec(lines[0]!)![0].length;
  return lines.map((line) => line.slice(Math.min(indent, /^ */.exec(line)![0].length))).join('\n');
}
