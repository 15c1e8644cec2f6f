/** One running language server. */
import { basename, join } from 'node:path';
import {
  type CancellationToken,
  CancellationTokenSource,
  createMessageConnection,
  type MessageConnection,
  ResponseError,
} from 'vscode-jsonrpc/node';
import type { InitializeParams, InitializeResult, ServerCapabilities } from 'vscode-languageserver-protocol';
import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import { PushedDiagnostics } from './answer/diagnostic.ts';
import { uriOf } from './answer/uri.ts';
import { clientCapabilities } from './capabilities.ts';
import { Checks } from './checks.ts';
import { OpenDocuments } from './document/open-documents.ts';
import { languageOf } from './known.ts';
import type { Document, ReadDocument, ServerSpec } from './lsp.ts';
import { type ProgressParams, ServerWork } from './server-work.ts';
import type { ChangeKind, TreeChanges } from './watch/tree-watch.ts';
import { WatchPatterns } from './watch/watch-patterns.ts';
import { BoundedReader } from './wire/bounded-reader.ts';
import { LanguageServerProcess } from './wire/language-server-process.ts';
import { WholeWriter } from './wire/whole-writer.ts';
import { within } from './within.ts';

/** The server sent no answer because something changed; the request can be repeated. */
const repeatable = [-32801, -32802];
const methodNotFound = -32601;
const maxErrorLength = 1000;
/** Time-out for the announcement: a server that has nothing to index sends none. */
const indexingBeginsMs = 10_000;
const fileEvents: Readonly<Record<ChangeKind, number>> = { created: 1, changed: 2, deleted: 3 };

export class Server {
  readonly spec: ServerSpec;
  readonly process: LanguageServerProcess;
  readonly work: ServerWork;
  readonly documents: OpenDocuments;
  /** Resolves to how the server ended. */
  readonly ended: Promise<string>;
  readonly ready: Promise<void>;
  hasEnded = false;
  capabilities: ServerCapabilities = {};
  /** The number of requests that are being answered. */
  busy = 0;
  readonly #root: string;
  readonly #connection: MessageConnection;
  readonly #watchers = new WatchPatterns();
  readonly #pushed = new PushedDiagnostics();
  readonly #checks: Checks | null;
  #broken: string | undefined;

  constructor(spec: ServerSpec, command: readonly string[], root: string) {
    this.spec = spec;
    this.#root = root;
    this.work = new ServerWork(command.includes(spec.indexesWith ?? '') ? indexingBeginsMs : 0);
    this.#checks = spec.checksWith === undefined ? null : new Checks(spec.checksWith);
    this.process = new LanguageServerProcess(command, root);
    const { stdin, stdout } = this.process;
    this.#connection = createMessageConnection(new BoundedReader(stdout), new WholeWriter(stdin));
    this.ended = this.process.ended.then((how) => this.#end(how));
    this.documents = new OpenDocuments(
      (method, params) => this.#notify(method, params),
      (path) => uriOf(root, path),
      (path) => languageOf(spec, path) ?? 'plaintext',
      this.#checks === null,
    );
    this.#listen();
    this.ready = this.#initialize();
    this.ready.catch(() => {});
  }

  /** Rejects with `unavailable` when the server ends first, and with `cancelled` when the signal aborts. */
  async request(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    const source = new CancellationTokenSource();
    const cancel = () => source.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await within(Promise.race([this.#send(method, params, source.token, signal), this.#lost()]), signal);
    } finally {
      signal.removeEventListener('abort', cancel);
      source.dispose();
    }
  }

  /** The diagnostics of a document, as the server sends them. */
  async diagnose(document: Document, signal: AbortSignal): Promise<unknown> {
    const uri = uriOf(this.#root, document.path);
    if (this.capabilities.diagnosticProvider) return this.#pull(uri, signal);
    const version = this.documents.update(document, true);
    return Promise.race([this.#pushed.next(uri, version, signal), this.#lost()]);
  }

  /** Adds the pushed results of checks: they arrive before the answer to a request that follows the check. */
  async #pull(uri: string, signal: AbortSignal): Promise<unknown> {
    const pulled = await this.request('textDocument/diagnostic', { textDocument: { uri } }, signal);
    const items = (pulled as { items?: unknown } | null)?.items;
    return this.#checks && Array.isArray(items) ? [...items, ...this.#pushed.latest(uri)] : items;
  }

  /** Null: diagnostics are complete. Otherwise waits for the end of a check, which is started if none runs. */
  checked({ path }: Document): Promise<void> | null {
    if (this.#checks === null || this.#checks.areDone) return null;
    const textDocument = { uri: uriOf(this.#root, path) };
    return Promise.race([
      this.#checks.done(() => this.#notify('textDocument/didSave', { textDocument })),
      this.#lost(),
    ]);
  }

  /** Sends the document if the server has another version of it, or none. */
  async update(document: Document, signal: AbortSignal): Promise<void> {
    const before = this.documents.versionOf(document.path);
    const version = this.documents.update(document);
    if (version !== before) this.#checks?.changed();
    if (!this.spec.readsLate || version === before) return;
    await Promise.race([this.#pushed.next(uriOf(this.#root, document.path), version, signal), this.#lost()]);
  }

  /** Announces changes of files: the text of open documents, and the names of files that the server watches. */
  announce(changes: TreeChanges, read: ReadDocument): void {
    this.#checks?.changed();
    for (const path of this.documents.paths()) if (changes.has(path)) this.#refresh(path, read);
    const wanted = [...changes].filter(([path]) => this.#isWanted(path));
    if (wanted.length === 0) return;
    const events = wanted.map(([path, kind]) => ({ uri: uriOf(this.#root, path), type: fileEvents[kind] }));
    this.#notify('workspace/didChangeWatchedFiles', { changes: events });
  }

  #refresh(path: string, read: ReadDocument): void {
    try {
      this.documents.update(read(path));
    } catch {
      // The file is gone or is not text any more.
      this.documents.close(path);
    }
  }

  /** A server that registers nothing gets the changes of all files in its languages. */
  #isWanted(path: string): boolean {
    return this.#watchers.isEmpty ? languageOf(this.spec, path) !== null : this.#watchers.wants(join(this.#root, path));
  }

  #notify(method: string, params: object): void {
    // `ended` reports a server that has ended, ignoring.
    this.#connection.sendNotification(method, params).catch(() => {});
  }

  async #send(method: string, params: object, token: CancellationToken, signal: AbortSignal): Promise<unknown> {
    for (;;) {
      try {
        return await this.#connection.sendRequest(method, params, token);
      } catch (error) {
        if (this.hasEnded) return this.#lost();
        if (signal.aborted || !(error instanceof ResponseError)) throw error;
        if (!repeatable.includes(error.code)) throw this.#failed(method, error);
      }
    }
  }

  #failed(method: string, { code, message }: ResponseError<unknown>): Fault {
    const { name } = this.spec;
    if (code === methodNotFound) return new Fault('unsupported', `the language server ${name} does not have ${method}`);
    return new Fault(
      'internal',
      `the language server ${name} failed at ${method}: ${printable(message, maxErrorLength)}`,
    );
  }

  async #lost(): Promise<never> {
    const how = printable(await this.ended, maxErrorLength);
    throw new Fault('unavailable', `the language server ${this.spec.name} ended: ${how}`, { hint: 'Try again.' });
  }

  #end(how: string): string {
    this.hasEnded = true;
    this.#connection.dispose();
    return this.#broken ?? how;
  }

  #listen(): void {
    const connection = this.#connection;
    connection.onError(([error]) => {
      this.#broken = `its output is not understood: ${error.message}`;
      this.process.kill();
    });
    connection.onNotification('$/progress', (params: unknown) => this.#progress((params ?? {}) as ProgressParams));
    connection.onNotification('experimental/serverStatus', (params: unknown) => {
      this.#checks?.loaded(this.work.status(params));
    });
    connection.onNotification('textDocument/publishDiagnostics', (params: unknown) => this.#pushed.take(params));
    connection.onRequest('workspace/configuration', (params: unknown) => this.#settings(params));
    connection.onRequest('workspace/workspaceFolders', () => this.#folders());
    connection.onRequest('client/registerCapability', (params: unknown) => this.#register(params));
    connection.onRequest('client/unregisterCapability', (params: unknown) => this.#watchers.unregister(params) ?? null);
    // An edit that the server wants to make by itself is refused.
    connection.onRequest('workspace/applyEdit', () => ({ applied: false }));
    connection.onRequest(() => null);
    connection.listen();
  }

  #progress(params: ProgressParams): void {
    if (!this.#checks?.progress(params)) this.work.progress(params);
  }

  #register(params: unknown): null {
    this.#watchers.register(params, this.#root);
    return null;
  }

  #settings(params: unknown): unknown[] {
    const { items } = params as { items?: unknown };
    if (!Array.isArray(items)) return [];
    return items.map((item: { section?: unknown } | null) => this.spec.settings?.[String(item?.section)] ?? null);
  }

  #folders() {
    return [{ uri: uriOf(this.#root, ''), name: basename(this.#root) }];
  }

  async #initialize(): Promise<void> {
    const { settings, initializationOptions } = this.spec;
    const params: InitializeParams = {
      processId: process.pid,
      clientInfo: { name: 'carrel' },
      rootUri: uriOf(this.#root, ''),
      rootPath: this.#root,
      workspaceFolders: this.#folders(),
      capabilities: clientCapabilities,
      initializationOptions,
    };
    const { signal } = new AbortController();
    const answer = await this.request('initialize', params, signal);
    this.capabilities = (answer as InitializeResult | null)?.capabilities ?? {};
    this.#notify('initialized', {});
    if (settings) this.#notify('workspace/didChangeConfiguration', { settings });
  }

  async stop(): Promise<void> {
    if (!this.hasEnded) await this.process.stop();
  }
}
