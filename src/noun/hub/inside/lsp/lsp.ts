/**
 * Language servers of one project, as a client of the Language Server Protocol sees them. This part knows no hub: it
 * gets a folder, a function that reads documents in it, and the servers that may be used.
 *
 * A server is started at the first request about a document of its language. A server that ends is started again, up to
 * a limit. The least recently used servers are stopped when there are too many, or when they use too much memory
 * together. All run in process groups of their own and are ended with `dispose`.
 *
 * Promises of `request`:
 * - Before the request is sent, the server knows of every change to files of the project that was made before the call:
 *   the document is opened or updated from what is on disk, other open documents too, and changes of other files are
 *   announced.
 * - `version` is the hash of the text that the server had. An edit that is computed from the answer is stale if the
 *   file has another hash.
 * - While the server reports that it is still indexing (and is not one with `loadsFirst`), the request is repeated
 *   until the time-out. The answer then has the status `indexing`; without an answer the status is `timed_out` and the
 *   result is null. Only `complete` means that nothing is missing.
 * - An error of the server is a Fault that names the server and has its message. Results are not validated here: they
 *   may have any shape, so callers check what they read. The length of a message is limited.
 *
 * A caller that has changed files itself needs to do nothing: the next request announces the changes.
 */
export type AnswerStatus = 'complete' | 'indexing' | 'timed_out';

export interface LspAnswer {
  readonly status: AnswerStatus;
  /** The name of the server. */
  readonly server: string;
  /** SHA-256 of the document that the server had. */
  readonly version: string;
  /** As the server sent it: unchecked. */
  readonly result: unknown;
}

export interface Document {
  /** In the project, without links. */
  readonly path: string;
  readonly text: string;
  /** SHA-256 of its bytes. */
  readonly hash: string;
}

export interface LspCallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export interface LanguageServers {
  /** Asks the server of a document. `textDocument` is added to the parameters. */
  request(path: string, method: string, params: object, options: LspCallOptions): Promise<LspAnswer>;
  /** Diagnostics of a document, unchecked. Asks the server, or waits for what it sends about this version. */
  diagnose(path: string, options: LspCallOptions): Promise<LspAnswer>;
  /** The lines of a file as they were at the last request, or later. Throws if the file is missing or not text. */
  lines(path: string): readonly string[];
  /** A document for each server that has one in the project, for requests that are not about a document. */
  examples(): Promise<string[]>;
  /** The servers that may be used from now on. */
  configure(specs: readonly ServerSpec[]): void;
  /** Ends all servers. */
  dispose(): Promise<void>;
}

/** Reads a document. Throws a Fault if it is missing or not text. */
export type ReadDocument = (path: string) => Document;

/** A language server that can be used. */
export interface ServerSpec {
  readonly name: string;
  /** The commands that start it, in order of preference; the first that exists is used. */
  readonly commands: readonly (readonly string[])[];
  /** Additional arguments for the project in this folder. */
  readonly argumentsFor?: (root: string) => readonly string[];
  /** With this argument the server announces its indexing, but it may answer before the announcement. */
  readonly indexesWith?: string;
  /** Language ids by the end of a file's name, with the dot, or by the whole name. */
  readonly languages: Readonly<Record<string, string>>;
  /** What to do if none of the commands exists. */
  readonly install: string;
  /** The server answers before it has read an opened document; it has read it when it publishes diagnostics. */
  readonly readsLate?: boolean;
  /** The server answers only after it has loaded all that the answer needs, so its progress is ignored. */
  readonly loadsFirst?: boolean;
  /** The server also checks saved files and pushes the results. The progress token of a check contains this text. */
  readonly checksWith?: string;
  readonly initializationOptions?: unknown;
  /** What the server gets when it asks for its configuration, by section. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
}
