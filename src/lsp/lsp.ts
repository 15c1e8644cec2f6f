/**
 * Language servers of one project, as a client of the Language Server Protocol sees them. This part knows no hub: it gets a folder, a
 * function that reads documents in it, and the servers that may be used.
 *
 * A server is started when a document of its language is first asked about. One that ends is started again, up to a limit. The least
 * recently used ones are stopped when there are too many, or when they use too much memory together. All of them run in process groups
 * of their own and are ended with `dispose`.
 *
 * Promises of `request`:
 * - Before the request is sent, the server knows of every change to files of the project that was made before the call: the document is
 *   opened or updated from what is on disk, other open documents too, and changes of other files are announced.
 * - `version` is the hash of the text that the server had. An edit that is computed from the answer is stale if the file has another hash.
 * - While the server says that it is still indexing (and is not one that loads first), the request is repeated until the time is up. The answer then has the status
 *   `indexing`; without an answer the status is `timed_out` and the result is null. Only `complete` means that there is no more to know.
 * - An error of the server is a Fault that names the server and has its message. Nothing that a server sends is believed: it may be of any
 *   shape, so callers check what they read. The length of a message is limited.
 *
 * A caller that has changed files itself needs to do nothing: the next request announces the changes.
 */
export type AnswerStatus = 'complete' | 'indexing' | 'timed_out';

export interface Answer {
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

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export interface LanguageServers {
  /** Asks the server of a document. `textDocument` is added to the parameters. */
  request(path: string, method: string, params: object, options: CallOptions): Promise<Answer>;
  /** Diagnostics of a document; the result is a list. Asks the server, or waits for what it sends about this version. */
  diagnose(path: string, options: CallOptions): Promise<Answer>;
  /** The lines of a file as they were at the last request, or later. Throws where there is none, or it is no text. */
  lines(path: string): readonly string[];
  /** A document for each server that has one in the project, for requests that are not about a document. */
  examples(): Promise<string[]>;
  /** The servers that may be used from now on. */
  configure(specs: readonly ServerSpec[]): void;
  /** Ends all servers. */
  dispose(): Promise<void>;
}

/** How documents are read. Throws a Fault where there is none, or it is no text. */
export type ReadDocument = (path: string) => Document;

/** A language server that can be used. */
export interface ServerSpec {
  readonly name: string;
  /** Where the command is looked for, in this order; the first that exists is used. */
  readonly commands: readonly (readonly string[])[];
  /** More arguments, when it is started for the project at this folder. */
  readonly argumentsFor?: (root: string) => readonly string[];
  /** With this argument it announces that it indexes, but may answer before it does so. */
  readonly indexesWith?: string;
  /** Language ids by the end of a file's name, with the dot, or by the whole name. */
  readonly languages: Readonly<Record<string, string>>;
  /** What to do if none of the commands exists. */
  readonly install: string;
  /** It answers before it has read a document that was opened; it has when it publishes diagnostics. */
  readonly readsLate?: boolean;
  /** It answers only when it has loaded all that the answer needs, so that its progress has no bearing on an answer. */
  readonly loadsFirst?: boolean;
  /** It checks saved files besides, with progress whose token has this text, and pushes what it finds. */
  readonly checksWith?: string;
  readonly initializationOptions?: unknown;
  /** What the server gets when it asks for its configuration, by section. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
}
