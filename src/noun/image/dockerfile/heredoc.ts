/** Text that follows an instruction, up to a line that ends it. */
import { splitWords } from './words.ts';

export interface HeredocMark {
  readonly name: string;
  /** Leading tabs of its lines are removed. */
  readonly chomp: boolean;
  /** The word as written in the instruction. */
  readonly word: string;
}

export interface Heredoc extends HeredocMark {
  readonly body: string;
}

/** Null: the end of a heredoc cannot be determined. */
export function heredocsIn(text: string, escaper: string): HeredocMark[] | null {
  if (text.startsWith('[')) return [];
  const marks: HeredocMark[] = [];
  for (const word of splitWords(text, escaper)) {
    if (!/^\d*<<-?[^<]/.test(word)) continue;
    const [, dash, , name] = /^\d*<<(-?)(['"]?)([A-Za-z_]\w*)\2$/.exec(word) ?? [];
    if (name === undefined) return null;
    marks.push({ name, chomp: dash === '-', word });
  }
  return marks;
}

/** The script that a shell gets for a RUN with heredocs. Null: it is a script for another program. */
export function shellScript(text: string, heredocs: readonly Heredoc[]): string | null {
  const [only] = heredocs;
  if (heredocs.length === 1 && text === only!.word) return only!.body.startsWith('#!') ? null : only!.body;
  return `${text}\n${heredocs.map(({ body, name }) => `${body}${name}\n`).join('')}`;
}
