/** Edits of a language server as changes of files. A server may send anything: what is outside of the project is refused. */
import { isAbsolute } from 'node:path';
import { Fault, isFault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import type { FileChange, RangeEdit } from '../../model/edit.ts';
import { lineStarts } from '../edit/range-edit.ts';
import { readDocument } from '../file/document.ts';
import { namesOf } from '../file/path.ts';
import type { Position } from '../lsp/answer/answer.ts';
import { pathOf } from '../lsp/answer/uri.ts';
import type { FileOptions, ServerChange, ServerTextEdit } from '../lsp/answer/workspace-edit.ts';

/** For each path, the path that has its text before the edit; null: the edit creates the file. */
type Sources = Map<string, string | null>;

export function changesOf(root: string, server: string, changes: readonly ServerChange[]): FileChange[] {
  const inside = (uri: string) => insideOf(root, server, uri);
  const sources: Sources = new Map();
  return changes.flatMap((change): FileChange[] => {
    const path = inside(change.uri);
    if (change.kind === 'edit') return change.edits.length === 0 ? [] : [editOf(root, sources, path, change.edits)];
    if (change.kind === 'rename') return [renameOf(sources, path, inside(change.newUri), change.options)];
    const { overwrite, recursive, lenient } = change.options;
    if (lenient && !overwrite && isThere(root, path) === (change.kind === 'create')) return [];
    if (change.kind === 'delete') return [{ kind: 'delete', path, recursive }];
    sources.set(path, null);
    return [{ kind: 'create', path, content: { encoding: 'utf-8', content: '' }, overwrite }];
  });
}

function renameOf(sources: Sources, path: string, to: string, { overwrite }: FileOptions): FileChange {
  sources.set(to, sources.has(path) ? sources.get(path)! : path);
  return { kind: 'rename', path, to, overwrite };
}

function insideOf(root: string, server: string, uri: string): string {
  const path = pathOf(root, uri);
  if (path === uri || isAbsolute(path) || namesOf(path).length === 0) {
    throw new Fault(
      'denied',
      `the language server ${server} wants to change ${printable(path, 200)}, which is not in the project`,
      {
        hint: 'Nothing was changed.',
      },
    );
  }
  return path;
}

function isThere(root: string, path: string): boolean {
  try {
    readDocument(root, path);
    return true;
  } catch (error) {
    return !isFault(error, 'not_found');
  }
}

function editOf(root: string, sources: Sources, path: string, edits: readonly ServerTextEdit[]): FileChange {
  const source = sources.has(path) ? sources.get(path)! : path;
  if (source === null) return { kind: 'edit', path, edits: edits.map((edit) => rangeEdit('', [0], edit)) };
  const { text, hash } = readDocument(root, source);
  const starts = lineStarts(text);
  return { kind: 'edit', path, edits: edits.map((edit) => rangeEdit(text, starts, edit)), expectedHash: hash };
}

/** Positions after the end of a line, or of the text, mean that end, as the protocol says. */
function rangeEdit(text: string, starts: readonly number[], { range, newText }: ServerTextEdit): RangeEdit {
  const [startLine, startColumn] = placeOf(text, starts, range.start);
  const [endLine, endColumn] = placeOf(text, starts, range.end);
  return { startLine, startColumn, endLine, endColumn, newText };
}

function placeOf(text: string, starts: readonly number[], { line, character }: Position): [number, number] {
  const last = starts.length - 1;
  if (line > last) return [last + 1, text.length - starts[last]! + 1];
  const length = text.slice(starts[line], starts[line + 1]).replace(/[\r\n]+$/, '').length;
  return [line + 1, Math.min(character, length) + 1];
}
