/** What the hub asks the program in the sandbox of a project about code, and what it answers. Lines and columns count from 1, columns in UTF-16. */

/** A place that is asked about: a line and a column, or a symbol of the file by its path, such as `Class/method`. */
export interface CodePosition {
  readonly path: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly symbol?: string | undefined;
}

/** `indexing`: there may be more. `timed_out`: nothing is known. */
export type CodeStatus = 'complete' | 'indexing' | 'timed_out';

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

export interface CodePaging {
  readonly limit: number;
  readonly skip: number;
}

/** A path outside of the project is the sandbox's. `text` is the line. */
export interface CodePlace {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  readonly text: string;
}

export const locateKinds = ['definition', 'references', 'implementation', 'typeDefinition'] as const;
export type LocateKind = (typeof locateKinds)[number];

export interface Locate extends CodePaging {
  readonly kind: LocateKind;
  readonly at: CodePosition;
  readonly timeoutMs: number;
}

/** Every method about code, with what it takes and answers. */
export interface CodeMethods {
  'code/locate': [Locate, CodePage<CodePlace>];
}
