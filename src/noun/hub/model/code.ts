/**
 * Requests of the hub to the spoke about code, and the answers. Lines and columns count from 1, columns in UTF-16
 * units.
 */

import { list, object, oneOf, open, orNull, type Shape, type Shaped, ShapeError, text } from '../../../model/shape.ts';
import type { CodeSetup } from '../../project/model/language.ts';
import { count, type MethodsOf, type Nothing, pageFields, texts } from './spoke-value.ts';

/** The place of a request: a line and a column, or a symbol of the file by its path, such as `Class/method`. */
export interface CodePosition {
  readonly path: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly symbol?: string | undefined;
}

/** `indexing`: the answer may be incomplete. `timed_out`: the server did not answer in time. */
export const codeStatuses = ['complete', 'indexing', 'timed_out'] as const;
const status = oneOf(...codeStatuses);
export type CodeStatus = Shaped<typeof status>;

export const answerFields = {
  status,
  /** The language server that answered. */
  server: text({ max: 200 }),
  /** SHA-256 of the document that the answer was computed from. */
  version: text({ max: 64 }),
};
const codeAnswer = open(answerFields);
export type CodeAnswer = Shaped<typeof codeAnswer>;

export interface CodePage<T> extends CodeAnswer {
  readonly items: readonly T[];
  readonly more: boolean;
}

function pageOf<T>(item: Shape<T>): Shape<CodePage<T>> {
  return open({ ...answerFields, ...pageFields(item) });
}

interface TimedRequest {
  readonly timeoutMs: number;
}
interface PageRequest extends TimedRequest {
  readonly limit: number;
  readonly skip: number;
}

/** A path outside of the project is a path inside the sandbox. */
const rangeFields = { path: text(), line: count, column: count, endLine: count, endColumn: count };
const codeRange = open(rangeFields);
export type CodeRange = Shaped<typeof codeRange>;

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

/** Checks in place, without a copy: an answer may have a thousand places. Other fields are not shown. */
const files: Shape<readonly FilePlaces[]> = (value, path) => {
  if (Array.isArray(value) && value.every(isFile)) return value;
  throw new ShapeError(path, 'must be a list of files with places');
};

function isFile(value: unknown): boolean {
  const { path, places } = (value ?? {}) as Partial<FilePlaces>;
  return typeof path === 'string' && Array.isArray(places) && places.every(isPlace);
}

function isPlace(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  const [line, column, endLine, endColumn, shown] = value as unknown[];
  return isCount(line) && isCount(column) && isCount(endLine) && isCount(endColumn) && typeof shown === 'string';
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export const locateKinds = ['definition', 'references', 'implementation', 'typeDefinition'] as const;
export type LocateKind = (typeof locateKinds)[number];

export interface Locate extends PageRequest {
  readonly kind: LocateKind;
  readonly at: CodePosition;
}

export interface AtPosition extends TimedRequest {
  readonly at: CodePosition;
}

/** Null: the server has no information about that place. */
const hover = open({ ...answerFields, text: orNull(text()) });
export type Hover = Shaped<typeof hover>;

export interface OfFile extends PageRequest {
  readonly path: string;
}

/** `name` is the path of the symbol in its file, such as `Class/method`. */
const symbol = open({ ...rangeFields, name: text(), kind: text(), detail: text() });
export type CodeSymbol = Shaped<typeof symbol>;

export interface SearchSymbols extends PageRequest {
  readonly query: string;
  /** Asks the server of that file only. */
  readonly path?: string | undefined;
}

/** The answers of all servers. */
const foundSymbols = open({
  status,
  servers: texts,
  /** The errors of servers that failed. */
  errors: list(open({ server: text(), message: text() }), Number.POSITIVE_INFINITY),
  ...pageFields(symbol),
});
export type FoundSymbols = Shaped<typeof foundSymbols>;

/** `activeParameter`: the index of the parameter, from 0. */
const signature = open({ label: text(), documentation: text(), activeParameter: orNull(count) });
export type Signature = Shaped<typeof signature>;

const completion = open({ label: text(), kind: text(), detail: text() });
export type CodeCompletion = Shaped<typeof completion>;

export interface Complete extends AtPosition, PageRequest {}

export const severities = ['error', 'warning', 'information', 'hint'] as const;

const problem = open({
  ...rangeFields,
  ...{ severity: oneOf(...severities), code: text(), source: text(), message: text() },
});
export type CodeProblem = Shaped<typeof problem>;

export const callDirections = ['incoming', 'outgoing'] as const;
export type CallDirection = (typeof callDirections)[number];

export interface Calls extends AtPosition, PageRequest {
  readonly direction: CallDirection;
}

/** A calling function with the place of one call and the text of its line, or a called function with the place of its name. */
const caller = open({ ...rangeFields, text: text(), name: text(), kind: text() });
export type CodeCaller = Shaped<typeof caller>;

export const codeResults = {
  'code/setup': object({}) as Shape<Nothing>,
  'code/locate': open({ ...answerFields, ...pageFields(symbol), items: files }),
  'code/hover': hover,
  'code/symbols': pageOf(symbol),
  'code/search': foundSymbols,
  'code/signature': pageOf(signature),
  'code/complete': pageOf(completion),
  'code/diagnose': pageOf(problem),
  'code/calls': pageOf(caller),
};

/** The request of each method about code. */
interface Requests {
  'code/setup': CodeSetup;
  'code/locate': Locate;
  'code/hover': AtPosition;
  'code/symbols': OfFile;
  'code/search': SearchSymbols;
  'code/signature': AtPosition;
  'code/complete': Complete;
  'code/diagnose': OfFile;
  'code/calls': Calls;
}
export type CodeMethods = MethodsOf<Requests, typeof codeResults>;
