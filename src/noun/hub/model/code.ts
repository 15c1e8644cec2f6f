/**
 * Requests of the hub to the spoke about code, and the answers. Lines and columns count from 1, columns in UTF-16
 * units.
 */

import type { CodeSetup } from '../../project/model/language.ts';

/** The place of a request: a line and a column, or a symbol of the file by its path, such as `Class/method`. */
export interface CodePosition {
  readonly path: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly symbol?: string | undefined;
}

/** `indexing`: the answer may be incomplete. `timed_out`: the server did not answer in time. */
export const codeStatuses = ['complete', 'indexing', 'timed_out'] as const;
export type CodeStatus = (typeof codeStatuses)[number];

export interface CodeAnswer {
  readonly status: CodeStatus;
  /** The language server that answered. */
  readonly server: string;
  /** SHA-256 of the document that the answer was computed from. */
  readonly version: string;
}

export interface CodePage<T> extends CodeAnswer {
  readonly items: readonly T[];
  readonly more: boolean;
}

interface Asked {
  readonly timeoutMs: number;
}
interface AskedPage extends Asked {
  readonly limit: number;
  readonly skip: number;
}

/** A path outside of the project is a path inside the sandbox. */
export interface CodeRange {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** A range in the project, with the text of its line. */
export interface CodePlace extends CodeRange {
  readonly text: string;
}

/** Line, column, last line, last column, and the text of the line. */
export type PlaceInFile = readonly [number, number, number, number, string];

/**
 * The places of one file without repeated paths and names of fields, which would dominate the time to send and to check
 * a thousand places.
 */
export interface FilePlaces {
  readonly path: string;
  readonly places: readonly PlaceInFile[];
}

export const locateKinds = ['definition', 'references', 'implementation', 'typeDefinition'] as const;
export type LocateKind = (typeof locateKinds)[number];

export interface Locate extends AskedPage {
  readonly kind: LocateKind;
  readonly at: CodePosition;
}

export interface AtPosition extends Asked {
  readonly at: CodePosition;
}

/** Null: the server has no information about that place. */
export interface Hover extends CodeAnswer {
  readonly text: string | null;
}

export interface OfFile extends AskedPage {
  readonly path: string;
}

/** `name` is the path of the symbol in its file, such as `Class/method`. */
export interface CodeSymbol extends CodeRange {
  readonly name: string;
  readonly kind: string;
  readonly detail: string;
}

export interface SearchSymbols extends AskedPage {
  readonly query: string;
  /** Asks the server of that file only. */
  readonly path?: string | undefined;
}

/** The answers of all servers. */
export interface FoundSymbols {
  readonly status: CodeStatus;
  readonly servers: readonly string[];
  /** The errors of servers that failed. */
  readonly errors: readonly { readonly server: string; readonly message: string }[];
  readonly items: readonly CodeSymbol[];
  readonly more: boolean;
}

export interface Signature {
  readonly label: string;
  readonly documentation: string;
  /** The index of the parameter, from 0. */
  readonly activeParameter: number | null;
}

export interface CodeCompletion {
  readonly label: string;
  readonly kind: string;
  readonly detail: string;
}

export interface Complete extends AtPosition, AskedPage {}

export const severities = ['error', 'warning', 'information', 'hint'] as const;

export interface CodeProblem extends CodeRange {
  readonly severity: (typeof severities)[number];
  readonly code: string;
  readonly source: string;
  readonly message: string;
}

export const callDirections = ['incoming', 'outgoing'] as const;
export type CallDirection = (typeof callDirections)[number];

export interface Calls extends AtPosition, AskedPage {
  readonly direction: CallDirection;
}

/** A calling function with the place of one call, or a called function with the place of its name. */
export interface CodeCaller extends CodePlace {
  readonly name: string;
  readonly kind: string;
}

/** Every method about code, with its request and its answer. */
export interface CodeMethods {
  'code/setup': [CodeSetup, Record<string, never>];
  'code/locate': [Locate, CodePage<FilePlaces>];
  'code/hover': [AtPosition, Hover];
  'code/symbols': [OfFile, CodePage<CodeSymbol>];
  'code/search': [SearchSymbols, FoundSymbols];
  'code/signature': [AtPosition, CodePage<Signature>];
  'code/complete': [Complete, CodePage<CodeCompletion>];
  'code/diagnose': [OfFile, CodePage<CodeProblem>];
  'code/calls': [Calls, CodePage<CodeCaller>];
}
