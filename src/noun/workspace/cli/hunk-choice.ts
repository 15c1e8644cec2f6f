/** The hunks of one file and the answers to them, with the keys of `git add -p`. */

import { plain } from '../../../client/output/text.ts';
import type { ApplyRequest, OfferedView } from '../api.ts';
import { editedHunk, maxHunkBytes } from '../model/hunk-edit.ts';
import {
  blocksOf,
  type Hunk,
  hunkText,
  inOrder,
  linesText,
  parseSection,
  replacementsOf,
  splitHunk,
} from '../model/patch-section.ts';

export interface HunkQuestion {
  /** The end of `Take this …`. */
  readonly what: string;
  /** The hunk, with its last edit. Null: the question is about the head of the file. */
  readonly hunk: Hunk | null;
  /** The hunk before it was edited; null: it was not edited. */
  readonly original: Hunk | null;
  readonly isMode: boolean;
  readonly taken: boolean | null;
}

export type Next =
  /** Show the question. */
  | { readonly do: 'ask' }
  /** Print this text, then ask again. */
  | { readonly do: 'say'; readonly text: string }
  /** Open the hunk in an editor. */
  | { readonly do: 'edit'; readonly hunk: Hunk }
  /** Every question of the file is answered. */
  | { readonly do: 'done' }
  | { readonly do: 'quit' };

const ask: Next = { do: 'ask' };
const whole = { A: 'addition', D: 'deletion', R: 'rename', T: 'change of type', M: 'change' } as const;

export const help = [
  'y - take this hunk',
  'n - do not take this hunk',
  'q - quit; do not take this hunk or any of the remaining ones, apply those taken before',
  'a - take this hunk and all later hunks in the file',
  'd - do not take this hunk or any of the later hunks in the file',
  'j - leave this hunk undecided, see the next undecided hunk',
  'J - leave this hunk undecided, see the next hunk',
  'k - leave this hunk undecided, see the previous undecided hunk',
  'K - leave this hunk undecided, see the previous hunk',
  'g - list the hunks; g NUMBER goes to one of them',
  '/ - /REGEX goes to the next hunk that matches',
  's - split the current hunk into smaller hunks',
  'e - manually edit the current hunk',
  'p - print the current hunk',
  '? - print help',
  'Undecided hunks are not taken. Ctrl-C applies nothing.',
].join('\n');

export class FileChoice {
  readonly file: OfferedView;
  readonly head: string;
  #questions: HunkQuestion[];
  #at = 0;

  constructor(file: OfferedView) {
    this.file = file;
    const { head, hunks } = parseSection(Buffer.from(file.section, 'base64').toString('latin1'));
    const open = { original: null, isMode: false, taken: null };
    const rest = hunks.map((hunk): HunkQuestion => ({ ...open, what: 'hunk', hunk }));
    const mode = /^old mode /m.test(head) ? [{ ...open, what: 'mode change', hunk: null, isMode: true }] : [];
    // If a file can only be taken as a whole, its hunks are shown with its head.
    this.head = file.divisible ? head : head + hunks.map(hunkText).join('');
    this.#questions = file.divisible ? [...mode, ...rest] : [{ ...open, what: whole[file.status], hunk: null }];
  }

  get question(): HunkQuestion {
    return this.#questions[this.#at]!;
  }

  /** `(2/3) Take this hunk [y,n,q,a,d,k,?]?` */
  get prompt(): string {
    const moves = this.#questions.length > 1 ? [...this.#moves(), 'g', '/'] : [];
    const changes = [...(this.#isSplittable() ? ['s'] : []), ...(this.#isEditable() ? ['e'] : [])];
    const keys = ['y', 'n', 'q', 'a', 'd', ...moves, ...changes, 'p', '?'];
    return `(${this.#at + 1}/${this.#questions.length}) Take this ${this.question.what} [${keys.join(',')}]? `;
  }

  #moves(): string[] {
    return (['j', 'J', 'k', 'K'] as const).filter((key) => this.#target(key) !== null);
  }

  #target(key: 'j' | 'J' | 'k' | 'K'): number | null {
    const [earlier, later] = [this.#at - 1, this.#at + 1];
    const isOpen = (at: number) => this.#questions[at]!.taken === null;
    const places = [...this.#questions.keys()];
    if (key === 'J') return later < places.length ? later : null;
    if (key === 'K') return earlier >= 0 ? earlier : null;
    if (key === 'j') return places.find((at) => at >= later && isOpen(at)) ?? null;
    return places.findLast((at) => at <= earlier && isOpen(at)) ?? null;
  }

  #isSplittable(): boolean {
    const { hunk, original } = this.question;
    return hunk !== null && original === null && blocksOf(hunk).length > 1;
  }

  #isEditable(): boolean {
    const { hunk } = this.question;
    return hunk !== null && linesText(hunk.lines).length <= maxHunkBytes;
  }

  /** Handles a typed line; only its first letter counts, except after g and /. */
  answer(line: string): Next {
    const [key = '', ...rest] = line.trim();
    const operand = rest.join('').trim();
    if (key === 'g') return operand === '' ? this.#list() : this.#goTo(Number(operand) - 1, `no hunk ${operand}`);
    if (key === '/') return this.#search(operand);
    if (key === 'p') return ask;
    if (key === 'y' || key === 'n') return this.#decide(key === 'y', this.#at + 1);
    if (key === 'a' || key === 'd') return this.#decide(key === 'a', this.#questions.length);
    if (key === 'q') return { do: 'quit' };
    if (key === 's') return this.#split();
    if (key === 'e' && this.#isEditable()) return { do: 'edit', hunk: this.question.hunk! };
    if (key === 'e') return { do: 'say', text: 'Sorry, cannot edit this hunk' };
    if (key === '?') return { do: 'say', text: help };
    if (key === 'j' || key === 'J' || key === 'k' || key === 'K') return this.#move(key);
    return { do: 'say', text: `${key === '' ? 'an empty line' : key} is not a key here; ? prints help` };
  }

  #decide(taken: boolean, to: number): Next {
    this.#questions = this.#questions.map((question, at) => {
      const isMeant = at === this.#at || (at > this.#at && at < to && question.taken === null);
      return isMeant ? { ...question, taken } : question;
    });
    const next = this.#target('j') ?? this.#questions.findIndex((question) => question.taken === null);
    if (next < 0) return { do: 'done' };
    this.#at = next;
    return ask;
  }

  #move(key: 'j' | 'J' | 'k' | 'K'): Next {
    const target = this.#target(key);
    if (target === null) return { do: 'say', text: `no ${/j/i.test(key) ? 'next' : 'previous'} hunk` };
    this.#at = target;
    return ask;
  }

  #list(): Next {
    const mark = { true: '+', false: '-', null: ' ' } as const;
    const lines = this.#questions.map((question, at) => {
      const { hunk, what, taken } = question;
      return `${mark[`${taken}`]}${at + 1}: ${hunk === null ? what : summaryOf(hunk)}`;
    });
    return { do: 'say', text: lines.join('\n') };
  }

  #goTo(at: number, otherwise: string): Next {
    if (this.#questions[at] === undefined) return { do: 'say', text: otherwise };
    this.#at = at;
    return ask;
  }

  /** Searches from the next hunk on, and then from the first. */
  #search(text: string): Next {
    const pattern = regexOf(text);
    if (pattern === null)
      return { do: 'say', text: `${text === '' ? 'an empty text' : text} is not a regular expression` };
    const places = [...this.#questions.keys()];
    const order = [...places.slice(this.#at + 1), ...places.slice(0, this.#at + 1)];
    const found = order.find((at) => pattern.test(searchedText(this.#questions[at]!)));
    return this.#goTo(found ?? -1, `no hunk matches ${text}`);
  }

  #split(): Next {
    if (!this.#isSplittable()) return { do: 'say', text: 'this cannot be split' };
    const parts = splitHunk(this.question.hunk!).map((hunk) => ({ ...this.question, hunk, taken: null }));
    this.#questions.splice(this.#at, 1, ...parts);
    return { do: 'say', text: `split into ${parts.length} hunks` };
  }

  /**
   * Takes the edited lines instead of the hunk; null: they do not apply to the shown file, or overlap with other hunks.
   */
  edit(lines: string): Next | null {
    const shown = this.question.original ?? this.question.hunk!;
    const hunk = editedHunk(shown, lines);
    const hunks = this.#questions.map((question, at) => (at === this.#at ? hunk : question.hunk));
    if (hunk === null || inOrder(hunks.flatMap((one) => (one === null ? [] : replacementsOf(one)))) === null)
      return null;
    const isSame = linesText(hunk.lines) === linesText(shown.lines);
    this.#questions[this.#at] = {
      ...this.question,
      ...(isSame ? { hunk: shown, original: null } : { hunk, original: shown }),
    };
    return this.#decide(true, this.#at + 1);
  }

  /** The chosen parts of the file; null: none. */
  get pick(): FilePick | null {
    const { id } = this.file;
    const taken = this.#questions.filter((question) => question.taken === true);
    if (taken.length === 0) return null;
    const edits = taken.flatMap(editOf);
    if (taken.length === this.#questions.length && edits.length === 0) return { id };
    const blocks = taken.flatMap(({ hunk, original }) => (hunk === null || original !== null ? [] : blocksOf(hunk)));
    return { id, blocks, mode: taken.some(({ isMode }) => isMode), ...(edits.length === 0 ? {} : { edits }) };
  }
}

type FilePick = NonNullable<ApplyRequest['pick']>[number];

function editOf({ hunk, original }: HunkQuestion): NonNullable<FilePick['edits']> {
  if (hunk === null || original === null) return [];
  return [{ blocks: blocksOf(original), lines: Buffer.from(linesText(hunk.lines), 'latin1').toString('base64') }];
}

/** The position of the hunk and its first changed line. */
function summaryOf(hunk: Hunk): string {
  const [head = '', ...lines] = hunkText(hunk).split('\n');
  const changed = lines.find((line) => /^[+-]/.test(line)) ?? '';
  return plain(decoded(`${/@@ .* @@/.exec(head)?.[0] ?? head} ${changed}`));
}

function searchedText({ hunk, what }: HunkQuestion): string {
  return hunk === null ? what : decoded(hunkText(hunk));
}

/** Hunks are strings of bytes, one byte in each character. */
function decoded(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8');
}

function regexOf(text: string): RegExp | null {
  try {
    return text === '' ? null : new RegExp(text, 'm');
  } catch {
    return null;
  }
}
