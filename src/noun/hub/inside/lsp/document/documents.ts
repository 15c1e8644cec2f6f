/** A cache of documents, valid until their files change: reading and hashing takes longer than comparing stamps. */
import { join } from 'node:path';
import type { Document, ReadDocument } from '../lsp.ts';
import { stampOf } from '../watch/tree-stamp.ts';

interface Kept {
  readonly document: Document;
  readonly stamp: string;
}

const maxKept = 50;
const maxCharacters = 1024 * 1024;

export class Documents {
  readonly #root: string;
  readonly #read: ReadDocument;
  readonly #isWatched: (path: string) => boolean;
  /** By path, the oldest first. */
  readonly #kept = new Map<string, Kept>();

  /** `isWatched`: changes of the file are reported to `drop`. A stamp alone misses a second change in a clock tick. */
  constructor(root: string, read: ReadDocument, isWatched: (path: string) => boolean) {
    this.#root = root;
    this.#read = read;
    this.#isWatched = isWatched;
  }

  read(path: string): Document {
    const before = stampOf(join(this.#root, path));
    const kept = this.#kept.get(path);
    if (kept !== undefined && kept.stamp === before) return kept.document;
    const document = this.#read(path);
    this.#keep(document, path, before);
    return document;
  }

  #keep(document: Document, path: string, stamp: string | null): void {
    this.#kept.delete(path);
    const isPlain = document.path === path && document.text.length <= maxCharacters && this.#isWatched(path);
    if (stamp === null || !isPlain) return;
    this.#kept.set(path, { document, stamp });
    if (this.#kept.size > maxKept) this.#kept.delete(this.#kept.keys().next().value!);
  }

  drop(paths: Iterable<string>): void {
    for (const path of paths) this.#kept.delete(path);
  }
}
