/**
 * The spoke: the program at a project that answers the hub.
 *
 * Life cycle: in a sandbox of the hub the daemon starts it when a call needs it, and its stdin and stdout are the
 * connection; when they end, so do the commands and language servers that it started. With `--connect` it runs
 * elsewhere: it dials the hub, and dials again whenever the connection is lost.
 *
 * The messages are those of `noun/hub/model/spoke.ts`. `serve.ts` lists the methods: files (`file`), commands (`command`), edits of
 * many files (`edit`), and questions to language servers (`code`).
 *
 * Promises:
 * - Calls run at the same time, and each can be cancelled. It ends with a result or a fault, never with both.
 * - No path leaves the project, also not by a link that is made while the call runs (`file/path.ts`).
 * - A write is atomic. With `expectedHash` it is refused if the file has changed since it was read.
 * - An edit is prepared, then applied, then finished, or aborted at any time. Its journal is in the project, so another
 *   process can abort it after a crash. An abort overwrites nothing that changed meanwhile.
 * - A time-out, and a client that cancels, end every process that a command started, detached or not. What a command
 *   leaves behind otherwise ends with the spoke of a sandbox.
 */

import type { SpokeMethod, SpokeMethods } from '../model/spoke.ts';
import type { ServerChange } from './lsp/answer/workspace-edit.ts';
import type { LanguageServers, LspAnswer } from './lsp/lsp.ts';

/** What a method about code gets besides its parameters. */
export interface CodeCall {
  readonly signal: AbortSignal;
  readonly servers: LanguageServers;
}

/** What any method gets besides its parameters. */
export interface Call extends CodeCall {
  output(text: string): void;
}

/** `root` is the folder of the project. */
export type Methods = {
  [M in SpokeMethod]: (
    root: string,
    request: SpokeMethods[M][0],
    call: Call,
  ) => SpokeMethods[M][1] | Promise<SpokeMethods[M][1]>;
};

/** An answer of a language server and the edit in it. */
export interface Computed {
  readonly answer: LspAnswer;
  readonly edit: readonly ServerChange[];
}
