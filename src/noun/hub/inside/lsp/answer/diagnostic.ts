/**
 * Diagnostics of a document. Some servers are asked for them (pull), others send them by themselves (push). A server
 * that pushes gets the document again under a new version, because not every server checks again when another file has
 * changed. Only diagnostics for that version count, so an empty list is never about an older state.
 */
import { open, type Shape, text, whole } from '../../../../../model/shape.ts';
import { within } from '../within.ts';
import { type Range, range } from './answer.ts';

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

/** Accepts also forms that servers should not use: a missing severity, and null for a field that should be left out. */
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

/** Diagnostics that a server pushed, and the calls that wait for them. */
export class PushedDiagnostics {
  #waiting: readonly Waiting[] = [];
  /** By document, the oldest first. */
  readonly #latest = new Map<string, readonly unknown[]>();

  /** Handles `textDocument/publishDiagnostics`. Waiting calls get the diagnostics unchecked; only lists are kept. */
  take(params: unknown): void {
    const { uri: about, version, diagnostics } = (params ?? {}) as Record<string, unknown>;
    if (typeof about === 'string' && Array.isArray(diagnostics)) this.#keep(about, diagnostics);
    const isMeant = (one: Waiting) => one.uri === about && (typeof version !== 'number' || version >= one.version);
    const meant = this.#waiting.filter(isMeant);
    this.#waiting = this.#waiting.filter((one) => !isMeant(one));
    for (const { resolve } of meant) resolve(diagnostics);
  }

  /** The last diagnostics of a document. */
  latest(about: string): readonly unknown[] {
    return this.#latest.get(about) ?? [];
  }

  #keep(about: string, diagnostics: readonly unknown[]): void {
    this.#latest.delete(about);
    if (diagnostics.length === 0) return;
    this.#latest.set(about, diagnostics);
    if (this.#latest.size > maxDocuments) this.#latest.delete(this.#latest.keys().next().value!);
  }

  /** Resolves to the next diagnostics of a document, of that version or newer if the server sends a version. */
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
