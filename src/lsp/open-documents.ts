/** The documents that a server has open, with the text it has of each. */
import type { Document } from './lsp.ts';

interface Open {
  readonly version: number;
  readonly hash: string;
}

const maxOpen = 50;

export type Notify = (method: string, params: object) => void;

export class OpenDocuments {
  readonly #notify: Notify;
  readonly #languageOf: (path: string) => string;
  readonly #uriOf: (path: string) => string;
  /** The least recently used first. */
  readonly #open = new Map<string, Open>();

  constructor(notify: Notify, uriOf: (path: string) => string, languageOf: (path: string) => string) {
    this.#notify = notify;
    this.#uriOf = uriOf;
    this.#languageOf = languageOf;
  }

  paths(): string[] {
    return [...this.#open.keys()];
  }

  versionOf(path: string): number | undefined {
    return this.#open.get(path)?.version;
  }

  /** Opens the document, or sends its text if that has changed. */
  update(document: Document): void {
    const { path, hash } = document;
    const known = this.#open.get(path);
    this.#open.delete(path);
    const version = known === undefined ? 1 : known.hash === hash ? known.version : known.version + 1;
    this.#open.set(path, { version, hash });
    if (known === undefined) this.#begin(document);
    else if (known.hash !== hash) this.#change(document, version);
    if (this.#open.size > maxOpen) this.close(this.#open.keys().next().value!);
  }

  #begin({ path, text }: Document): void {
    const textDocument = { uri: this.#uriOf(path), languageId: this.#languageOf(path), version: 1, text };
    this.#notify('textDocument/didOpen', { textDocument });
  }

  #change({ path, text }: Document, version: number): void {
    const uri = this.#uriOf(path);
    this.#notify('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text }] });
    this.#notify('textDocument/didSave', { textDocument: { uri }, text });
  }

  close(path: string): void {
    if (this.#open.delete(path)) this.#notify('textDocument/didClose', { textDocument: { uri: this.#uriOf(path) } });
  }
}
