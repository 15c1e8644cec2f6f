/**
 * A unified diff for a terminal. The agent chose the bytes, so line ends and tabs are the only control characters that
 * are kept. Characters that change the direction of text are escaped, and invalid UTF-8 becomes U+FFFD.
 */
import { plain } from './text.ts';
import { type WordPart, wordDiff } from './word-diff.ts';

const colours = { header: 1, place: 36, added: 32, deleted: 31 } as const;
type Kind = keyof typeof colours | 'other';

/** Deleted lines and the added lines after them are buffered, to mark the words that differ. Longer runs are not. */
const maxRun = 200;

/** Header lines of git outside of hunks; other lines there are from the daemon. */
const headers =
  /^(?:diff --git |index |--- |\+\+\+ |(?:old|new|deleted file|new file) mode |(?:dis)?similarity index |rename (?:from|to) )/;

export class DiffText {
  readonly #colour: boolean;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /** Lines of the old and the new file that the current hunk still has. */
  #old = 0;
  #new = 0;
  #rest = '';
  #deleted: string[] = [];
  #added: string[] = [];

  constructor(colour: boolean) {
    this.#colour = colour;
  }

  /** Takes the next chunk and returns its whole lines; an unfinished line is buffered. */
  take(chunk: Uint8Array): string {
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split('\n');
    this.#rest = lines.pop()!;
    return lines.map((line) => this.#next(line)).join('');
  }

  end(): string {
    const last = this.#rest + this.#decoder.decode();
    this.#rest = '';
    const shown = last === '' ? '' : this.#next(last).replace(/\n$/, '');
    return this.#held() + shown;
  }

  /** Returns the text to print now: buffered lines and this line, or nothing while the line is buffered itself. */
  #next(line: string): string {
    const kind = this.#kindOf(line);
    if (!this.#colour) return `${harmless(line)}\n`;
    const continues = kind === 'added' || (kind === 'deleted' && this.#added.length === 0);
    const before = continues && this.#deleted.length + this.#added.length < maxRun ? '' : this.#held();
    if (kind !== 'added' && kind !== 'deleted') return `${before}${painted(kind, harmless(line))}\n`;
    (kind === 'added' ? this.#added : this.#deleted).push(harmless(line));
    return before;
  }

  /** Returns the buffered run. If as many lines were added as deleted, they are compared in pairs. */
  #held(): string {
    const [deleted, added] = [this.#deleted, this.#added];
    [this.#deleted, this.#added] = [[], []];
    const pairs =
      deleted.length === added.length ? deleted.map((line, n) => wordDiff(line.slice(1), added[n]!.slice(1))) : [];
    const lines = [
      ...deleted.map((line, n) => marked('deleted', line, pairs[n]?.old)),
      ...added.map((line, n) => marked('added', line, pairs[n]?.now)),
    ];
    return lines.map((line) => `${line}\n`).join('');
  }

  /** Counts the lines of each hunk, because a deleted line may look like a header. */
  #kindOf(line: string): Kind {
    if (this.#old > 0 || this.#new > 0) return this.#inHunk(line);
    const place = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
    if (place !== null) {
      this.#old = Number(place[1] ?? 1);
      this.#new = Number(place[2] ?? 1);
      return 'place';
    }
    return headers.test(line) ? 'header' : 'other';
  }

  #inHunk(line: string): Kind {
    if (line.startsWith('\\')) return 'other';
    if (!line.startsWith('+')) this.#old -= 1;
    if (!line.startsWith('-')) this.#new -= 1;
    return line.startsWith('+') ? 'added' : line.startsWith('-') ? 'deleted' : 'other';
  }
}

function painted(kind: Kind, text: string): string {
  return kind !== 'other' && text !== '' ? `\u001b[${colours[kind]}m${text}\u001b[0m` : text;
}

/** Shows the words that differ in reverse video. */
function marked(kind: 'added' | 'deleted', line: string, parts: readonly WordPart[] = []): string {
  if (parts.length === 0) return painted(kind, line);
  const text = parts.map((part) => (part.changed ? `\u001b[7m${part.text}\u001b[27m` : part.text)).join('');
  return painted(kind, `${line[0]}${text}`);
}

/** One safe line: control characters in caret notation such as ^[, tabs unchanged, everything else by `plain`. */
function harmless(line: string): string {
  return line
    .split('\t')
    .map((part) => plain(part.replace(/[\u0000-\u001f\u007f]/g, caret)))
    .join('\t');
}

function caret(character: string): string {
  return `^${String.fromCharCode(character.charCodeAt(0) ^ 0x40)}`;
}
