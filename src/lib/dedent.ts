/** A text that is written indented in the source: without the indentation of its first line, and without an empty one before. */
export function dedent(text: string): string {
  const lines = text.replace(/^\n/, '').replace(/ *$/, '').split('\n');
  const indent = /^ */.exec(lines[0]!)![0].length;
  return lines.map((line) => line.slice(Math.min(indent, /^ */.exec(line)![0].length))).join('\n');
}
