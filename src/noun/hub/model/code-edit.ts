/** Edits that language servers compute. The spoke returns changes; the hub applies them like changes of a client. */
import type { CodeAnswer, CodePosition } from './code.ts';
import type { FileChange } from './edit.ts';

export interface CodeLines {
  readonly startLine: number;
  readonly endLine: number;
}

export type CodeEdit =
  | { readonly act: 'rename'; readonly at: CodePosition; readonly newName: string; readonly timeoutMs: number }
  | {
      readonly act: 'format';
      readonly path: string;
      readonly tabSize: number;
      readonly insertSpaces: boolean;
      readonly timeoutMs: number;
    }
  | { readonly act: 'organizeImports'; readonly path: string; readonly timeoutMs: number }
  | { readonly act: 'moveFile'; readonly path: string; readonly to: string; readonly timeoutMs: number }
  | {
      readonly act: 'apply';
      readonly path: string;
      readonly lines: CodeLines | null;
      /** The id of the action, from `code/actions`. */
      readonly id: string;
      readonly timeoutMs: number;
    };

/** The changes of an edit. Every change of a file has the hash of the content that it was computed from. */
export interface CodeChanges extends CodeAnswer {
  readonly changes: readonly FileChange[];
}

export interface ListActions {
  readonly path: string;
  /** Null: the whole file. */
  readonly lines: CodeLines | null;
  readonly timeoutMs: number;
}

export interface CodeAction {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
}

export interface CodeActions extends CodeAnswer {
  readonly actions: readonly CodeAction[];
}

export interface CodeEditMethods {
  'code/edit': [CodeEdit, CodeChanges];
  'code/actions': [ListActions, CodeActions];
}
