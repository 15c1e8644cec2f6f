/**
 * Edits of many files in one or more projects, applied to all of them or to none.
 *
 * The daemon asks every spoke to prepare, then to apply. The row of the edit in the store holds the decision. While it
 * says `begun`, any failure rolls the edit back in every project. Once it says `done`, the daemon removes the journals
 * and then the row.
 */

/** Content as text if it is UTF-8 without NUL, else as base64. */
export interface FileContent {
  readonly encoding: 'utf-8' | 'base64';
  readonly content: string;
}

/** Replaces the one place that has `oldText`, or the lines from `startLine` to `endLine`, counted before any edit. */
export type TextEdit =
  | { readonly oldText: string; readonly newText: string }
  | { readonly startLine: number; readonly endLine: number; readonly newText: string };

/** A change of one path. Later changes of a list see the result of earlier ones. */
export type FileChange =
  | {
      readonly kind: 'edit';
      readonly path: string;
      readonly edits: readonly (TextEdit | RangeEdit)[];
      readonly expectedHash?: string | undefined;
    }
  | { readonly kind: 'create'; readonly path: string; readonly content: FileContent; readonly overwrite: boolean }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string; readonly overwrite: boolean }
  | {
      readonly kind: 'delete';
      readonly path: string;
      readonly recursive: boolean;
      readonly expectedHash?: string | undefined;
    };

/** Replaces the text between two positions of the file as it was: lines and columns from 1, columns in UTF-16 units, the end excluded. */
export interface RangeEdit {
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
  readonly newText: string;
}

export interface PrepareEdit {
  /** Names the journal; 16 hexadecimal digits. */
  readonly id: string;
  readonly changes: readonly FileChange[];
  readonly dryRun: boolean;
}

export type ChangeOutcome = 'changed' | 'created' | 'renamed' | 'deleted';

export interface ChangedFile {
  readonly path: string;
  readonly outcome: ChangeOutcome;
  /** The new path of a renamed file or folder. */
  readonly to: string | null;
  /** The hash of the new content; null: there is none, or it stays the same. */
  readonly hash: string | null;
}

export interface PreparedEdit {
  /** The changed files, at most `maxListedFiles`. */
  readonly files: readonly ChangedFile[];
  readonly count: number;
  /** Unified diff. */
  readonly diff: string;
  readonly diffTruncated: boolean;
}

/** Names an edit that was prepared. */
export interface EditId {
  readonly id: string;
}

export interface AbortedEdit {
  /** Files that another process changed after the edit: they were left, and their old content is in `.carrel-edit-ID-abort`. */
  readonly left: readonly string[];
}

/** The row in the store. */
export interface Edit {
  readonly id: string;
  readonly projects: readonly string[];
  readonly state: 'begun' | 'done';
  readonly createdAt: string;
}

export const maxListedFiles = 1000;
export const maxEditSteps = 10_000;
export const maxEditBytes = 64 * 1024 * 1024;
export const maxDiffBytes = 256 * 1024;
