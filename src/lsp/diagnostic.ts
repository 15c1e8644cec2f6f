/**
 * What servers find wrong in a document. Some are asked (pull), others send it by themselves (push). One that pushes gets the document
 * again under a new version, because not every server looks again when another file has changed, and what it sends about that version
 * counts. "Nothing found" is never what was sent about another state.
 */
import { open, type Shape, text, whole } from '../model/shape.ts';
import { type Range, range } from './shape.ts';
import { within } from './within.ts';

export interface Diagnostic {
  readonly range: Range;
  /** 1 error, 2 warning, 3 information, 4 hint. */
  readonly severity: number;
  readonly code: string;
  readonly source: string;
  readonly message: string;
}

const maxTextLength = 100_000;
const maxDocuments = 1000;
const base = open({ range });

/** Also the forms that servers should not use: a missing severity, and null where a field should be left out. */
export const diagnostic: Shape<Diagnostic> = (value, path) => {
  const { range: where } = base(value, path);
  const { severity, code, source, message } = value as Record<string, unknown>;
  return {
    range: where,
    severity: severity === undefined || severity === null ? 1 : whole(1, 4)(severity, [...path, 'severity']),
    code: typeof code === 'string' || typeof code === 'number' ? String(code) : '',
    source: typeof source === 'string' ? source : '',
    message: text({ max: maxTextLength })(markup(message), [...path, 'message']),
  };
};

/** The protocol lets newer servers send Markdown. */
function markup(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'value' in message ? message.value : message;
}

/** For those who wait for what a server pushes. */
export class Published {
  #waiting: readonly Waiting[] = [];
  /** By document, the oldest first. */
  readonly #latest = new Map<string, readonly unknown[]>();

  /** `textDocument/publishDiagnostics`. What is not understood is dropped: the one who waits gets no answer. */
  take(params: unknown): void {
    const { uri: about, version, diagnostics } = (params ?? {}) as Record<string, unknown>;
    if (typeof about === 'string' && Array.isArray(diagnostics)) this.#keep(about, diagnostics);
    const isMeant = (one: Waiting) => one.uri === about && (typeof version !== 'number' || version >= one.version);
    const meant = this.#waiting.filter(isMeant);
    this.#waiting = this.#waiting.filter((one) => !isMeant(one));
    for (const { resolve } of meant) resolve(diagnostics);
  }

  /** What was sent last about a document. */
  latest(about: string): readonly unknown[] {
    return this.#latest.get(about) ?? [];
  }

  #keep(about: string, diagnostics: readonly unknown[]): void {
    this.#latest.delete(about);
    if (diagnostics.length === 0) return;
    this.#latest.set(about, diagnostics);
    if (this.#latest.size > maxDocuments) this.#latest.delete(this.#latest.keys().next().value!);
  }

  /** What is sent next about a document, of that version or a newer one if the server says which. */
  next(about: string, version: number, signal: AbortSignal): Promise<unknown> {
    const { promise, resolve } = deferred();
    const waiting = { uri: about, version, resolve };
    this.#waiting = [...this.#waiting, waiting];
    return within(promise, signal).finally(() => {
      this.#waiting = this.#waiting.filter((one) => one !== waiting);
    });
  }
}

interface Waiting {
  readonly uri: string;
  readonly version: number;
  resolve(items: unknown): void;
}

function deferred() {
  let resolve: (value: unknown) => void = () => {};
  const promise = new Promise<unknown>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
