/** Turns a hunk into the text for the editor, with the instructions of `git add -p`, and back. */
import { type Hunk, headText, linesText } from '../model/patch-section.ts';

const instructions = `# ---
# To remove '-' lines, make them ' ' lines (context).
# To remove '+' lines, delete them.
# Lines starting with # will be removed.
# If the hunk applies cleanly, it is taken as it is here.
# If it does not apply cleanly, you will be given an opportunity to
# edit again.  If all lines of the hunk are removed, then the edit is
# aborted and the hunk is left unchanged.
`;

/** `lines`: the lines of an earlier edit, instead of those of the hunk. */
export function editText(hunk: Hunk, lines = linesText(hunk.lines)): string {
  return `# Manual hunk edit mode -- see bottom for a quick guide.\n${headText(hunk)}${lines}${instructions}`;
}

/** The edited lines of the hunk; empty: the user removed all of them. */
export function editedLines(text: string): string {
  const lines = text.split(/(?<=\n)/).filter((line) => line !== '' && !line.startsWith('#'));
  if (lines[0]?.startsWith('@@')) lines.shift();
  // Some editors do not end the last line.
  return lines.join('').replace(/[^\n]$/, '$&\n');
}
