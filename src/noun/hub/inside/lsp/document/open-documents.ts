/** The documents that a server has open, with the text it has of each. */
import type { Document } from '../lsp.ts';

interface Open {
  readonly version: number;
  readonly hash: string;
}

/** An extension of clangd, which otherwise skips a text that it had before. */
const forceRebuild = true;

const maxOpen = 50;

export type Notify = (method: string, params: object) => void;

export class OpenDocuments {
  readonly #notify: Notify;
  readonly #languageOf: (path: string) => string;
  readonly #uriOf: (path: string) => string;
  readonly #saves: boolean;
  /** The least recently used first. */
  readonly #open = new Map<string, Open>();

  /** `saves`: a change is also sent as saved. */
  constructor(notify: Notify, uriOf: (path: string) => string, languageOf: (path: string) => string, saves = true) {
    this.#notify = notify;
    this.#uriOf = uriOf;
    this.#languageOf = languageOf;
    this.#saves = saves;
  }

  paths(): string[] {
    return [...this.#open.keys()];
  }

  /** Undefined: it is not open. */
  versionOf(path: string): number | undefined {
    return this.#open.get(path)?.version;
  }

  /** Opens the document, or sends its text if that has changed. Answers with its version. `again`: sends it in any case. */
  update(document: Document, again = false): number {
    const { path, hash } = document;
    const known = this.#open.get(path);
    const isChanged = known !== undefined && (again || known.hash !== hash);
    const version = (known?.version ?? 1) + (isChanged ? 1 : 0);
    this.#open.delete(path);
    this.#open.set(path, { version, hash });
    if (known === undefined) this.#begin(document);
    if (isChanged) this.#change(document, version, again);
    if (this.#open.size > maxOpen) this.close(this.#open.keys().next().value!);
    return version;
  }

  #begin({ path, text }: Document): void {
    const textDocument = { uri: this.#uriOf(path), languageId: this.#languageOf(path), version: 1, text };
    this.#notify('textDocument/didOpen', { textDocument });
  }

  #change({ path, text }: Document, version: number, again: boolean): void {
    const uri = this.#uriOf(path);
    const change = { textDocument: { uri, version }, contentChanges: [{ text }] };
    this.#notify('textDocument/didChange', again ? { ...change, forceRebuild } : change);
    // A save would make clangd drop the rebuild that it was forced to.
    if (this.#saves && !again) this.#notify('textDocument/didSave', { textDocument: { uri }, text });
  }

  close(path: string): void {
    if (this.#open.delete(path)) this.#notify('textDocument/didClose', { textDocument: { uri: this.#uriOf(path) } });
  }
}
