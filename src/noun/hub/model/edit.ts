/**
 * Edits of many files in one or more projects, applied to all of them or to none.
 *
 * The daemon asks every spoke to prepare, then to apply. The row of the edit in the store holds the decision. While it
 * says `begun`, any failure rolls the edit back in every project. Once it says `done`, the daemon removes the journals
 * and then the row.
 */
import { flag, list, oneOf, open, orNull, type Shape, type Shaped, text, whole } from '../../../model/shape.ts';
import { count } from './spoke-value.ts';

export const maxListedFiles = 1000;
export const maxEditSteps = 10_000;
export const maxEditBytes = 64 * 1024 * 1024;
export const maxDiffBytes = 256 * 1024;

const place = whole(1, Number.MAX_SAFE_INTEGER);
const path = text({ max: 4200 });
const expectedHash: Shape<string | undefined> = text({ min: 64, max: 64 });

/** Content as text if it is UTF-8 without NUL, else as base64. */
export const contentFields = { encoding: oneOf('utf-8', 'base64'), content: text() };
const fileContent = open(contentFields);
export type FileContent = Shaped<typeof fileContent>;

/** Replaces the one place that has `oldText`, or the lines from `startLine` to `endLine`, counted before any edit. */
export type TextEdit =
  | { readonly oldText: string; readonly newText: string }
  | { readonly startLine: number; readonly endLine: number; readonly newText: string };

/** Replaces the text between two positions of the file as it was: lines and columns from 1, columns in UTF-16 units, the end excluded. */
const rangeEdit = open({ startLine: place, startColumn: place, endLine: place, endColumn: place, newText: text() });
export type RangeEdit = Shaped<typeof rangeEdit>;

/** The changes that a spoke may propose; it knows the files and names places in them. */
const changes = {
  edit: open({ kind: oneOf('edit'), path, edits: list(rangeEdit, Number.POSITIVE_INFINITY) }, { expectedHash }),
  create: open({ kind: oneOf('create'), path, content: fileContent, overwrite: flag }),
  rename: open({ kind: oneOf('rename'), path, to: path, overwrite: flag }),
  delete: open({ kind: oneOf('delete'), path, recursive: flag }, { expectedHash }),
};
type Proposed = { readonly [K in keyof typeof changes]: Shaped<(typeof changes)[K]> };
const kind = open({ kind: oneOf('edit', 'create', 'rename', 'delete') });

/** A change of one path. Later changes of a list see the result of earlier ones. */
export type FileChange =
  | (Omit<Proposed['edit'], 'edits'> & { readonly edits: readonly (TextEdit | RangeEdit)[] })
  | Proposed['create' | 'rename' | 'delete'];

export const proposedChange: Shape<FileChange> = (value, at) => changes[kind(value, at).kind](value, at);

export interface PrepareEdit {
  /** Names the journal; 16 hexadecimal digits. */
  readonly id: string;
  readonly changes: readonly FileChange[];
  readonly dryRun: boolean;
}

const changedFile = open({
  path: text(),
  outcome: oneOf('changed', 'created', 'renamed', 'deleted'),
  /** The new path of a renamed file or folder. */
  to: orNull(text()),
  /** The hash of the new content; null: there is none, or it stays the same. */
  hash: orNull(text()),
});
export type ChangedFile = Shaped<typeof changedFile>;
export type ChangeOutcome = ChangedFile['outcome'];

export const preparedEdit = open({
  files: list(changedFile, maxListedFiles),
  /** Of all changed files. */
  count,
  /** Unified diff. */
  diff: text(),
  diffTruncated: flag,
});
export type PreparedEdit = Shaped<typeof preparedEdit>;

/** Names an edit that was prepared. */
export interface EditId {
  readonly id: string;
}

export const abortedEdit = open({
  /** Files that another process changed after the edit: they were left, and their old content is in `.carrel-edit-ID-abort`. */
  left: list(text(), Number.POSITIVE_INFINITY),
});
export type AbortedEdit = Shaped<typeof abortedEdit>;

/** The row in the store. */
export interface Edit {
  readonly id: string;
  readonly projects: readonly string[];
  readonly state: 'begun' | 'done';
  readonly createdAt: string;
}
