/**
 * Requests of the hub to the program in the sandbox of a project (the spoke), and its answers, in lines of JSON:
 *
 *   hub → spoke    {id, method, asked} with the request in `asked` · {cancel: id}
 *   spoke → hub    {id, output}, of a command while it runs · then {id, result} or {id, fault}
 *
 * Paths are relative to the project, with `/` between names; the program refuses one that leaves the project, also by a link.
 */
import { flag, list, oneOf, open, orNull, type Shape, type Shaped, text, whole } from '../../../model/shape.ts';
import { type CodeMethods, codeResults } from './code.ts';
import { type CodeEditMethods, codeEditResults } from './code-edit.ts';
import {
  abortedEdit,
  contentFields,
  type EditId,
  type FileContent,
  type PrepareEdit,
  preparedEdit,
  type TextEdit,
} from './edit.ts';
import { count, type MethodsOf, type Nothing, pageFields, texts } from './spoke-value.ts';

export type { FileContent, Nothing, TextEdit };

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

const readResult = open({
  path: text(),
  ...contentFields,
  sizeBytes: count,
  /** SHA-256 of the whole file. */
  hash: text(),
  /** Null: the content is not text. */
  lines: orNull(count),
  truncated: flag,
});
export type ReadResult = Shaped<typeof readResult>;

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

const writeResult = open({ path: text(), hash: text(), sizeBytes: count, created: flag, dryRun: flag });
export type WriteResult = Shaped<typeof writeResult>;

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
const changedPaths = open({ paths: texts, dryRun: flag });
export type ChangedPaths = Shaped<typeof changedPaths>;

export interface ListFiles {
  readonly path: string;
  readonly depth: number;
  readonly limit: number;
  /** The last path of the page before. */
  readonly after?: string | undefined;
}

const listedFile = open({ path: text(), kind: oneOf('file', 'folder', 'link', 'other'), sizeBytes: count });
export type ListedFile = Shaped<typeof listedFile>;
export type EntryKind = ListedFile['kind'];

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

const match = open({ path: text(), line: count, column: count, text: text() });
export type Match = Shaped<typeof match>;

export interface RunCommand {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** True: the spoke searches the output and the reports for failed tests. */
  readonly isTest?: boolean | undefined;
}

const runResult = open({
  /** Null: a signal ended it. */
  exitCode: orNull(whole(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)),
  signal: orNull(text()),
  timedOut: flag,
  durationMs: count,
  /** The last part of the output. */
  ...{ stdout: text(), stderr: text(), truncated: flag },
  /** The names of failed tests, as far as they could be found. */
  failedTests: list(text({ max: 300 }), 200),
});
export type RunResult = Shaped<typeof runResult>;

interface Requests {
  /** Answered at once: it proves that the program runs. */
  'spoke/ping': object;
  'file/read': ReadFile;
  'file/write': WriteFile;
  'file/remove': RemoveFile;
  'file/rename': RenameFile;
  'file/list': ListFiles;
  'text/search': SearchText;
  'command/run': RunCommand;
  /** Checks an edit of many files and stages its contents in a journal, or only answers what it would do. */
  'edit/prepare': PrepareEdit;
  /** Applies a prepared edit. After a failure the caller has to abort the edit. */
  'edit/apply': EditId;
  /** Undoes an edit that was prepared or applied. An unknown edit is ignored. */
  'edit/abort': EditId;
  /** Removes the journal. */
  'edit/finish': EditId;
}
const nothing = open({}) as Shape<Nothing>;

const results = {
  'spoke/ping': open({}),
  'file/read': readResult,
  'file/write': writeResult,
  'file/remove': changedPaths,
  'file/rename': changedPaths,
  'file/list': open(pageFields(listedFile)),
  'text/search': open(pageFields(match)),
  'command/run': runResult,
  'edit/prepare': preparedEdit,
  'edit/apply': nothing,
  'edit/abort': abortedEdit,
  'edit/finish': nothing,
};

/** Every method, with its request and its answer. */
export type SpokeMethods = MethodsOf<Requests, typeof results> & CodeMethods & CodeEditMethods;
export type SpokeMethod = keyof SpokeMethods;

/** Checks of the answers: the daemon does not trust what comes from a sandbox. */
export const spokeResults: { readonly [M in SpokeMethod]: Shape<SpokeMethods[M][1]> } = {
  ...results,
  ...codeResults,
  ...codeEditResults,
};

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
