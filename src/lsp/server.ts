/** One running language server. */
import { basename } from 'node:path';
import {
  type CancellationToken,
  CancellationTokenSource,
  createMessageConnection,
  type MessageConnection,
  ResponseError,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import type { InitializeParams, InitializeResult, ServerCapabilities } from 'vscode-languageserver-protocol';
import { Fault } from '../model/fault.ts';
import { printable } from '../model/name.ts';
import { BoundedReader } from './bounded-reader.ts';
import { clientCapabilities } from './capabilities.ts';
import { languageOf } from './known.ts';
import type { Document, ServerSpec } from './lsp.ts';
import { OpenDocuments } from './open-documents.ts';
import { ServerProcess } from './server-process.ts';
import { uriOf } from './uri.ts';
import { within } from './within.ts';
import { Work } from './work.ts';

/** The server sent no answer because something changed; the request can be repeated. */
const repeatable = [-32801, -32802];
const maxErrorLength = 1000;

export class Server {
  readonly name: string;
  readonly work = new Work();
  readonly documents: OpenDocuments;
  /** Resolves with how it ended. */
  readonly ended: Promise<string>;
  readonly ready: Promise<void>;
  capabilities: ServerCapabilities = {};
  hasEnded = false;
  /** When it last sent anything. */
  heardAt = performance.now();
  readonly #root: string;
  readonly #spec: ServerSpec;
  readonly #process: ServerProcess;
  readonly #connection: MessageConnection;
  #broken: string | undefined;

  constructor(spec: ServerSpec, command: readonly string[], root: string) {
    this.name = spec.name;
    this.#spec = spec;
    this.#root = root;
    this.#process = new ServerProcess(command, root);
    this.#connection = createMessageConnection(
      new BoundedReader(this.#process.stdout),
      new StreamMessageWriter(this.#process.stdin),
    );
    this.ended = this.#process.ended.then((how) => this.#end(how));
    this.documents = new OpenDocuments(
      (method, params) => this.notify(method, params),
      (path) => uriOf(root, path),
      (path) => languageOf(spec, path) ?? 'plaintext',
    );
    this.#listen();
    this.ready = this.#initialize();
    this.ready.catch(() => {});
  }

  notify(method: string, params: object): void {
    // A server that has ended is noticed by `ended`, ignoring.
    this.#connection.sendNotification(method, params).catch(() => {});
  }

  /** Rejects with `unavailable` when the server ends first, and with `cancelled`. */
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

  async #send(method: string, params: object, token: CancellationToken, signal: AbortSignal): Promise<unknown> {
    for (;;) {
      try {
        return await this.#connection.sendRequest(method, params, token);
      } catch (error) {
        if (signal.aborted || !(error instanceof ResponseError)) throw error;
        if (!repeatable.includes(error.code)) throw this.#failed(method, error);
      }
    }
  }

  #failed(method: string, { code, message }: ResponseError<unknown>): Fault {
    const said = printable(message, maxErrorLength);
    return new Fault(
      code === -32601 ? 'unsupported' : 'internal',
      `${this.name} failed at ${method}: ${said} (${code})`,
    );
  }

  async #lost(): Promise<never> {
    const how = await this.ended;
    throw new Fault('unavailable', `the language server ${this.name} ended: ${printable(how, maxErrorLength)}`, {
      hint: 'Try again.',
    });
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
      this.#process.kill();
    });
    connection.onUnhandledNotification(() => this.#heard());
    connection.onNotification('$/progress', (params: unknown) => this.#heard(() => this.work.progress(params)));
    connection.onNotification('experimental/serverStatus', (params: unknown) =>
      this.#heard(() => this.work.status(params)),
    );
    connection.onRequest('window/workDoneProgress/create', () => null);
    connection.onRequest('workspace/configuration', (params: unknown) => this.#settings(params));
    connection.onRequest('workspace/workspaceFolders', () => this.#folders());
    // An edit that the server wants to make by itself is refused.
    connection.onRequest('workspace/applyEdit', () => ({ applied: false }));
    connection.onRequest(() => null);
    connection.listen();
  }

  #heard(work?: () => void): void {
    this.heardAt = performance.now();
    work?.();
  }

  #settings(params: unknown): unknown[] {
    const { items } = params as { items?: unknown };
    if (!Array.isArray(items)) return [];
    return items.map((item: { section?: unknown } | null) => this.#spec.settings?.[String(item?.section)] ?? null);
  }

  #folders() {
    return [{ uri: uriOf(this.#root, ''), name: basename(this.#root) }];
  }

  async #initialize(): Promise<void> {
    const params: InitializeParams = {
      processId: process.pid,
      clientInfo: { name: 'carrel' },
      rootUri: uriOf(this.#root, ''),
      rootPath: this.#root,
      workspaceFolders: this.#folders(),
      capabilities: clientCapabilities,
      initializationOptions: this.#spec.initializationOptions,
    };
    const answer = await Promise.race([this.#connection.sendRequest('initialize', params), this.#lost()]);
    this.capabilities = (answer as InitializeResult | null)?.capabilities ?? {};
    this.notify('initialized', {});
    if (this.#spec.settings) this.notify('workspace/didChangeConfiguration', { settings: this.#spec.settings });
  }

  update(document: Document): void {
    this.documents.update(document);
  }

  get memoryPid(): number | undefined {
    return this.#process.pid;
  }

  async stop(): Promise<void> {
    if (!this.hasEnded) await this.#process.stop();
  }
}
