import type { LanguageServers } from '../../lsp/lsp.ts';

/** What a method about code gets besides its parameters. */
export interface CodeCall {
  readonly signal: AbortSignal;
  readonly servers: LanguageServers;
}
