/** The edits that a server asks for, in either of the two forms that servers use. */
import { list, oneOf, open, record, type Shape, ShapeError, text } from '../../../../../model/shape.ts';
import { listOf, type Range, range, uri } from './answer.ts';

export interface ServerTextEdit {
  readonly range: Range;
  readonly newText: string;
}

export type ServerChange =
  | { readonly kind: 'edit'; readonly uri: string; readonly edits: readonly ServerTextEdit[] }
  | { readonly kind: 'create'; readonly uri: string; readonly options: FileOptions }
  | { readonly kind: 'rename'; readonly uri: string; readonly newUri: string; readonly options: FileOptions }
  | { readonly kind: 'delete'; readonly uri: string; readonly options: FileOptions };

export interface FileOptions {
  readonly overwrite: boolean;
  readonly recursive: boolean;
  /** True: it is no error if the file exists already, or does not exist any more. */
  readonly lenient: boolean;
}

const maxFiles = 10_000;
const maxEdits = 200_000;
const textEdit: Shape<ServerTextEdit> = open({ range, newText: text() });
export const textEdits: Shape<readonly ServerTextEdit[]> = listOf(textEdit);
const documentEdit = open({ textDocument: open({ uri }), edits: list(textEdit, maxEdits) });
const createOrDelete = open({ kind: oneOf('create', 'delete'), uri });
const rename = open({ kind: oneOf('rename'), oldUri: uri, newUri: uri });
const byUri = record({ max: 5000 }, list(textEdit, maxEdits), maxFiles);

const fileChange: Shape<ServerChange> = (value, path) => {
  if (typeof value !== 'object' || value === null) throw new ShapeError(path, 'must be an object');
  if (!('kind' in value)) {
    const { textDocument, edits } = documentEdit(value, path);
    return { kind: 'edit', uri: textDocument.uri, edits };
  }
  const options = optionsOf((value as { options?: unknown }).options);
  if (value.kind !== 'rename') return { ...createOrDelete(value, path), options };
  const { oldUri, newUri } = rename(value, path);
  return { kind: 'rename', uri: oldUri, newUri, options };
};

function optionsOf(given: unknown): FileOptions {
  const options = (given ?? {}) as Record<string, unknown>;
  return {
    overwrite: options.overwrite === true,
    recursive: options.recursive === true,
    lenient: options.ignoreIfExists === true || options.ignoreIfNotExists === true,
  };
}

/** Null: no changes. Without changes of names the files are sorted, because servers send them in varying order. */
export const workspaceEdit: Shape<readonly ServerChange[]> = (value, path) => {
  if (value === null || value === undefined) return [];
  const { documentChanges, changes } = value as { documentChanges?: unknown; changes?: unknown };
  if (documentChanges !== null && documentChanges !== undefined) {
    const files = list(fileChange, maxFiles)(documentChanges, [...path, 'documentChanges']);
    return files.every(({ kind }) => kind === 'edit') ? sorted(files) : files;
  }
  const files = byUri(changes ?? {}, [...path, 'changes']);
  return sorted(Object.entries(files).map(([name, edits]) => ({ kind: 'edit', uri: name, edits })));
};

function sorted(changes: readonly ServerChange[]): readonly ServerChange[] {
  return [...changes].sort((one, other) => (one.uri < other.uri ? -1 : Number(one.uri > other.uri)));
}
