import type { Answer, LanguageServers } from '../../lsp/lsp.ts';
import type { ServerChange } from '../../lsp/workspace-edit.ts';

/** An answer of a language server and the edit in it. */
export interface Computed {
  readonly answer: Answer;
  readonly edit: readonly ServerChange[];
}

/** What a method that computes edits gets besides its parameters. */
export interface CodeEditCall {
  readonly signal: AbortSignal;
  readonly servers: LanguageServers;
}
