/** A cache of lines, valid until files change: an answer may name hundreds of files, and reading them all is slow. */
import type { ReadDocument } from '../lsp.ts';

const maxCharacters = 16 * 1024 * 1024;
const maxOfOne = maxCharacters / 16;

export class Texts {
  readonly #read: ReadDocument;
  readonly #isWatched: (path: string) => boolean;
  readonly #kept = new Map<string, readonly string[]>();
  #characters = 0;

  /** `isWatched`: changes of the file are reported to `drop`. */
  constructor(read: ReadDocument, isWatched: (path: string) => boolean) {
    this.#read = read;
    this.#isWatched = isWatched;
  }

  lines(path: string): readonly string[] {
    const kept = this.#kept.get(path);
    if (kept !== undefined) return kept;
    const { text } = this.#read(path);
    const lines = text.split('\n');
    if (text.length <= maxOfOne && this.#isWatched(path)) this.#keep(path, lines, text.length);
    return lines;
  }

  #keep(path: string, lines: readonly string[], characters: number): void {
    if (this.#characters + characters > maxCharacters) this.#clear();
    this.#characters += characters;
    this.#kept.set(path, lines);
  }

  #clear(): void {
    this.#kept.clear();
    this.#characters = 0;
  }

  /** Drops files that have changed. Their characters still count until the next clearing. */
  drop(paths: Iterable<string>): void {
    for (const path of paths) this.#kept.delete(path);
  }
}
