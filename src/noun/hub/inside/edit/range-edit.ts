/** Edits between positions of a text. They come from clients and from language servers, so they are validated. */

import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import type { RangeEdit } from '../../model/edit.ts';

interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly newText: string;
}

/** All positions refer to the text before the edits. Insertions at one position keep their order. */
export function editedRanges(text: string, edits: readonly RangeEdit[], path: string): string {
  const starts = lineStarts(text);
  const sorted = edits
    .map((edit) => replacementOf(text, starts, edit, path))
    .toSorted((a, b) => a.start - b.start || a.end - b.end);
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, newText } of sorted) {
    if (start < at) throw refused(path, 'has edits that overlap');
    parts.push(text.slice(at, start), newText);
    at = end;
  }
  return parts.join('') + text.slice(at);
}

/** Lines end with LF, CR LF or CR, as language servers count them. */
export function lineStarts(text: string): number[] {
  return [0, ...Array.from(text.matchAll(/\r\n?|\n/g), ({ 0: end, index }) => index + end.length)];
}

function replacementOf(text: string, starts: readonly number[], edit: RangeEdit, path: string): Replacement {
  const start = offsetOf(text, starts, edit.startLine, edit.startColumn, path);
  const end = offsetOf(text, starts, edit.endLine, edit.endColumn, path);
  if (end < start) throw refused(path, 'has an edit that ends before it starts');
  return { start, end, newText: edit.newText };
}

function offsetOf(text: string, starts: readonly number[], line: number, column: number, path: string): number {
  const start = starts[line - 1];
  const next = starts[line] ?? text.length;
  if (start === undefined || start + column - 1 > next) throw refused(path, `has no position ${line}:${column}`);
  const offset = start + column - 1;
  if (isLowSurrogate(text, offset)) throw refused(path, `has no character that starts at ${line}:${column}`);
  return offset;
}

function isLowSurrogate(text: string, offset: number): boolean {
  const code = text.charCodeAt(offset);
  return code >= 0xdc00 && code <= 0xdfff;
}

function refused(path: string, why: string): Fault {
  return new Fault('conflict', `${printable(path)} ${why}`, { hint: 'Read the file again.' });
}
