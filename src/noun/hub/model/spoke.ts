/**
 * Requests of the hub to the program in the sandbox of a project (the spoke), and its answers, in lines of JSON:
 *
 *   hub → spoke    {id, method, asked} · {cancel: id}
 *   spoke → hub    {id, output}, of a command while it runs · then {id, result} or {id, fault}
 *
 * Paths are relative to the project, with `/` between names; the program refuses one that leaves the project, also by a link.
 */
import type { CodeMethods } from './code.ts';
import type { CodeEditMethods } from './code-edit.ts';
import type { AbortedEdit, EditId, FileContent, PreparedEdit, PrepareEdit, TextEdit } from './edit.ts';

export type { FileContent, TextEdit };

export const spokePath = '/opt/carrel/bin/carrel-spoke';
/** The language servers that come with Carrel, each in a folder. */
export const languageServersPath = '/opt/carrel/lsp';
/** The subprotocol of the WebSocket by which a spoke elsewhere dials the hub, at `spokeUrlPath`. */
export const spokeSubprotocol = 'carrel-spoke';
export const spokeUrlPath = '/spoke';
/** The command of the sandbox of a project: it only waits. */
export const idlePath = '/opt/carrel/bin/carrel-idle';

export interface ReadFile {
  readonly path: string;
  /** The first line, from 1; `endLine` is the last one. For text only. */
  readonly startLine?: number | undefined;
  readonly endLine?: number | undefined;
}

export interface ReadResult extends FileContent {
  readonly path: string;
  readonly sizeBytes: number;
  /** SHA-256 of the whole file. */
  readonly hash: string;
  /** Null: the content is not text. */
  readonly lines: number | null;
  readonly truncated: boolean;
}

export interface WriteFile {
  readonly path: string;
  /** The whole content, or edits of the existing content. */
  readonly content?: FileContent | undefined;
  readonly edits?: readonly TextEdit[] | undefined;
  /** The write is refused if the file has another hash. */
  readonly expectedHash?: string | undefined;
  /** True: the file must not exist yet. */
  readonly isNew: boolean;
  readonly dryRun: boolean;
}

export interface WriteResult {
  readonly path: string;
  readonly hash: string;
  readonly sizeBytes: number;
  readonly created: boolean;
  readonly dryRun: boolean;
}

export interface RemoveFile {
  readonly path: string;
  readonly recursive: boolean;
  readonly expectedHash?: string | undefined;
  readonly dryRun: boolean;
}

export interface RenameFile {
  readonly from: string;
  readonly to: string;
  readonly overwrite: boolean;
  readonly dryRun: boolean;
}

/** The paths that were changed; with `dryRun`, the paths that would be changed. */
export interface ChangedPaths {
  readonly paths: readonly string[];
  readonly dryRun: boolean;
}

export interface ListFiles {
  readonly path: string;
  readonly depth: number;
  readonly limit: number;
  /** The last path of the page before. */
  readonly after?: string | undefined;
}

export type EntryKind = 'file' | 'folder' | 'link' | 'other';

export interface ListedFile {
  readonly path: string;
  readonly kind: EntryKind;
  readonly sizeBytes: number;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** There is more after the last item. */
  readonly more: boolean;
}

export interface SearchText {
  readonly pattern: string;
  readonly path: string;
  readonly isLiteral: boolean;
  readonly ignoreCase: boolean;
  readonly globs: readonly string[];
  readonly limit: number;
  readonly skip: number;
}

export interface Match {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly text: string;
}

export interface RunCommand {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** True: the spoke searches the output and the reports for failed tests. */
  readonly isTest?: boolean | undefined;
}

export interface RunResult {
  /** Null: a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly durationMs: number;
  /** The last part of the output. */
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  /** The names of failed tests, as far as they could be found. */
  readonly failedTests: readonly string[];
}

export type Nothing = Readonly<Record<string, never>>;

/** Every method, with its request and its answer. */
export interface SpokeMethods extends CodeMethods, CodeEditMethods {
  /** Answered at once: it proves that the program runs. */
  'spoke/ping': [object, object];
  'file/read': [ReadFile, ReadResult];
  'file/write': [WriteFile, WriteResult];
  'file/remove': [RemoveFile, ChangedPaths];
  'file/rename': [RenameFile, ChangedPaths];
  'file/list': [ListFiles, Page<ListedFile>];
  'text/search': [SearchText, Page<Match>];
  'command/run': [RunCommand, RunResult];
  /** Checks an edit of many files and stages its contents in a journal, or only answers what it would do. */
  'edit/prepare': [PrepareEdit, PreparedEdit];
  /** Applies a prepared edit. After a failure the caller has to abort the edit. */
  'edit/apply': [EditId, Nothing];
  /** Undoes an edit that was prepared or applied. An unknown edit is ignored. */
  'edit/abort': [EditId, AbortedEdit];
  /** Removes the journal. */
  'edit/finish': [EditId, Nothing];
}
export type SpokeMethod = keyof SpokeMethods;

export type SpokeRequest =
  | {
      readonly [M in SpokeMethod]: { readonly id: number; readonly method: M; readonly asked: SpokeMethods[M][0] };
    }[SpokeMethod]
  | { readonly cancel: number };

/** A file of `maxFileBytes` is written in one request; answers have limits of their own. */
export const maxRequestBytes = 48 * 1024 * 1024;
export const maxAnswerBytes = 8 * 1024 * 1024;
export const maxFileBytes = 16 * 1024 * 1024;
export const maxReadBytes = 1024 * 1024;
