/**
 * Parses a Dockerfile into instructions. The builder never sees the original text, only text that is written from the
 * instructions, so no two parsers can disagree about it. What is not understood is refused with its line.
 */

import { Fault } from '../../../model/fault.ts';
import type { Dockerfile, Escape, Instruction } from './dockerfile.ts';
import { type Heredoc, heredocsIn } from './heredoc.ts';

export const maxDockerfileBytes = 256 * 1024;

const names = new Set(
  (
    'ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN SHELL STOPSIGNAL USER VOLUME ' +
    'WORKDIR'
  ).split(' '),
);
const withHeredocs = ['RUN', 'COPY', 'ADD'];

export function refusal(file: string, line: number, what: string, hint?: string): Fault {
  return new Fault('invalid', `${file}, line ${line}: ${what}`, {
    ...(hint === undefined ? {} : { hint }),
    data: { file, line },
  });
}

export function parseDockerfile(file: string, bytes: Uint8Array): Dockerfile {
  const lines = textLines(file, bytes);
  const escaper = readDirectives(file, lines);
  const reader = new Reader(file, lines, escaper);
  const instructions: Instruction[] = [];
  for (let next = reader.next(); next !== null; next = reader.next()) instructions.push(next);
  return { file, escaper, instructions };
}

function textLines(file: string, bytes: Uint8Array): string[] {
  const lines = new TextDecoder().decode(bytes).split(/\r?\n/);
  // Some parsers treat these characters as white space, others do not.
  const strange = lines.findIndex((line) => /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffd]/.test(line));
  if (strange < 0) return lines;
  throw refusal(file, strange + 1, 'it holds a control character or something that is not UTF-8');
}

/**
 * Reads the directives: comments of the form `# key=value` at the top of the file. Returns the character that continues
 * a line.
 */
function readDirectives(file: string, lines: readonly string[]): Escape {
  let escaper: Escape = '\\';
  const seen = new Set<string>();
  for (const [index, line] of lines.entries()) {
    const [, given, value] = /^\s*#\s*([A-Za-z][A-Za-z0-9]*)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    const key = given?.toLowerCase();
    if (key !== 'syntax' && key !== 'escape' && key !== 'check') break;
    if (seen.has(key)) throw refusal(file, index + 1, `the directive ${key} comes twice`);
    seen.add(key);
    if (key === 'syntax') checkSyntax(file, index + 1, value!);
    if (key === 'escape') escaper = escapeOf(file, index + 1, value!);
  }
  return escaper;
}

/** The directive `syntax` names the program that parses the rest of the file; only the parser of this file is used. */
function checkSyntax(file: string, line: number, value: string): void {
  if (/^(docker\.io\/)?docker\/dockerfile(:1(\.\d+){0,2})?$/.test(value)) return;
  throw refusal(file, line, `this is not the Dockerfile that is understood here: ${value}`, 'Leave the line out.');
}

function escapeOf(file: string, line: number, value: string): Escape {
  if (value === '\\' || value === '`') return value;
  throw refusal(file, line, `${JSON.stringify(value)} cannot continue lines`, 'Use \\ or `.');
}

class Reader {
  readonly #file: string;
  readonly #lines: readonly string[];
  readonly #escaper: Escape;
  #at = 0;

  constructor(file: string, lines: readonly string[], escaper: Escape) {
    this.#file = file;
    this.#lines = lines;
    this.#escaper = escaper;
  }

  next(): Instruction | null {
    while (this.#at < this.#lines.length && isSilent(this.#lines[this.#at]!)) this.#at += 1;
    if (this.#at >= this.#lines.length) return null;
    const line = this.#at + 1;
    const [, word, text = ''] = /^(\S+)(?:\s+(.*))?$/.exec(this.#joined(line))!;
    const name = word!.toUpperCase();
    if (!names.has(name)) throw refusal(this.#file, line, `${JSON.stringify(word)} is not an instruction`);
    return { name, line, text, heredocs: withHeredocs.includes(name) ? this.#heredocs(line, text) : [] };
  }

  /** One instruction on one line, without continuation characters, comments and empty lines. */
  #joined(first: number): string {
    let joined = '';
    for (; this.#at < this.#lines.length; this.#at += 1) {
      const line = this.#lines[this.#at]!;
      if (this.#at >= first && isSilent(line)) continue;
      const body = line.trimEnd();
      if (!body.endsWith(this.#escaper)) {
        this.#at += 1;
        return `${joined}${body}`.trim();
      }
      if (body.endsWith(this.#escaper.repeat(2))) throw this.#doubled();
      joined += body.slice(0, -1);
    }
    throw refusal(this.#file, first, 'its last line says that it goes on, and the file ends');
  }

  #doubled(): Fault {
    const what = `the line ends with ${this.#escaper.repeat(2)}, which may or may not continue it`;
    return refusal(this.#file, this.#at + 1, what, 'Put something behind it.');
  }

  #heredocs(line: number, text: string): Heredoc[] {
    const found = heredocsIn(text, this.#escaper);
    if (found === null)
      throw refusal(this.#file, line, 'a heredoc that is not understood', 'Name it by one word: <<EOF');
    return found.map((mark) => {
      const from = this.#at;
      const isEnd = (one: string) => (mark.chomp ? one.replace(/^\t+/, '') : one) === mark.name;
      const length = this.#lines.slice(from).findIndex(isEnd);
      if (length < 0) throw refusal(this.#file, line, `the heredoc ${mark.name} has no end`);
      const body = this.#lines.slice(from, from + length);
      this.#at = from + length + 1;
      return { ...mark, body: body.map((one) => `${mark.chomp ? one.replace(/^\t+/, '') : one}\n`).join('') };
    });
  }
}

function isSilent(line: string): boolean {
  return /^\s*(#|$)/.test(line);
}
