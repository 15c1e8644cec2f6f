/** Edits that language servers compute. The spoke returns changes; the hub applies them like changes of a client. */
import { list, open, type Shaped, text } from '../../../model/shape.ts';
import { answerFields, type CodePosition } from './code.ts';
import { proposedChange } from './edit.ts';
import type { MethodsOf } from './spoke-value.ts';

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

/** Every change of a file has the hash of the content that it was computed from. */
const codeChanges = open({ ...answerFields, changes: list(proposedChange, 20_000) });
export type CodeChanges = Shaped<typeof codeChanges>;

export interface ListActions {
  readonly path: string;
  /** Null: the whole file. */
  readonly lines: CodeLines | null;
  readonly timeoutMs: number;
}

const codeAction = open({ id: text({ min: 16, max: 16 }), title: text({ max: 2000 }), kind: text({ max: 500 }) });
const codeActions = open({ ...answerFields, actions: list(codeAction, 200) });
export type CodeActions = Shaped<typeof codeActions>;

export const codeEditResults = { 'code/edit': codeChanges, 'code/actions': codeActions };

interface Requests {
  'code/edit': CodeEdit;
  'code/actions': ListActions;
}
export type CodeEditMethods = MethodsOf<Requests, typeof codeEditResults>;
