/** A tool call as lines: its title, how it ended, and a short part of its output. */

import { DiffText } from '../../../client/output/diff-text.ts';
import type { Colour } from '../../../client/output/output.ts';
import { cut, plain } from '../../../client/output/text.ts';
import { unifiedDiff } from '../../../lib/text/diff.ts';
import type { ToolChange } from '../model/session.ts';

export interface Painter {
  readonly colourful: boolean;
  paint(colour: Colour, text: string): string;
}

/** How many lines of a diff, and of the output of a failed call, are shown. */
const shownDiffLines = 16;
const shownOutputLines = 5;
const titleColumns = 100;
const resultColumns = 60;

export function toolLines(tool: ToolChange, painter: Painter): string[] {
  const failed = tool.status === 'failed';
  const isOpen = tool.status === 'pending' || tool.status === 'in_progress';
  const mark = failed ? painter.paint('red', '✗') : isOpen ? '…' : painter.paint('green', '✓');
  const output = outputOf(tool);
  const [first = ''] = output;
  const brief = output.length === 1 && first.length <= resultColumns;
  const summary = brief ? `: ${first}` : output.length > 0 ? ` (${output.length} lines)` : '';
  const more = failed && !brief ? output.slice(-shownOutputLines) : [];
  return [
    `${mark} ${titleOf(tool)}${painter.paint('dim', summary)}`,
    ...more.map((line) => `  ${cut(line, titleColumns)}`),
  ];
}

export function titleOf({ title, toolCallId }: ToolChange): string {
  return cut(plain((title || toolCallId).split('\n')[0]!), titleColumns);
}

/** The diffs of all files that the call edits; a long diff is cut. */
export function diffLines({ content = [] }: ToolChange, folder: string, painter: Painter): string[] {
  return content.flatMap((part) => (part.type === 'diff' ? oneDiff(part, folder, painter) : []));
}

function oneDiff({ path, oldText, newText }: Readonly<Record<string, unknown>>, folder: string, painter: Painter) {
  const name = String(path).startsWith(`${folder}/`) ? String(path).slice(folder.length + 1) : String(path);
  const bytes = (text: unknown) => (typeof text === 'string' ? Buffer.from(text) : null);
  const text = new DiffText(painter.colourful);
  const shown = text.take(Buffer.from(unifiedDiff(name, bytes(oldText), bytes(newText)))) + text.end();
  const lines = shown.split('\n').slice(0, -1);
  const rest = lines.length - shownDiffLines;
  const kept = rest > 1 ? [...lines.slice(0, shownDiffLines), painter.paint('dim', `… ${rest} more lines`)] : lines;
  return kept.map((line) => `  ${line}`);
}

/** The text output as lines, without empty lines at the end. */
function outputOf({ content = [] }: ToolChange): string[] {
  const texts = content.map((part) => {
    const { text } = (part.content ?? {}) as { text?: unknown };
    return part.type === 'content' && typeof text === 'string' ? text : '';
  });
  const text = texts.join('').trimEnd();
  return text === '' ? [] : text.split(/\r?\n/).map(plain);
}
