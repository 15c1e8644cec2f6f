/**
 * Splits a shell command into words, or says why they are not certain. It supports words, quotes and backslashes, only as far
 * as all shells agree on them; at anything else it stops and reports the position.
 */
export type LexedWords = { readonly argv: readonly string[] } | { readonly unclear: string };

const maxCharacters = 65_536;
/** Characters that are literal in every shell, at every position of a word. */
const ordinary = /[A-Za-z0-9_./:,@%+=-]/;
const printableAscii = /[ -~]/;

export function splitWords(text: string): LexedWords {
  if (text.length > maxCharacters) return { unclear: `more than ${maxCharacters} characters` };
  const argv: string[] = [];
  let word: string | null = null;
  let at = 0;
  while (at < text.length) {
    const character = text[at]!;
    if (character === ' ' || character === '\t') {
      if (word !== null) argv.push(word);
      word = null;
      at++;
      continue;
    }
    const piece = pieceAt(text, at, word === null);
    if ('unclear' in piece) return piece;
    word = (word ?? '') + piece.text;
    at = piece.end;
  }
  if (word !== null) argv.push(word);
  return assignment(text) ?? { argv };
}

type Piece = { readonly text: string; readonly end: number } | { readonly unclear: string };

function pieceAt(text: string, at: number, first: boolean): Piece {
  const character = text[at]!;
  if (character === "'") return singleQuoted(text, at);
  if (character === '"') return doubleQuoted(text, at);
  if (character === '\\') return escaped(text, at);
  if (character === '=' && first) return unclear('"=" at the beginning of a word', at);
  if (ordinary.test(character)) return { text: character, end: at + 1 };
  return unclear(named(character), at);
}

function singleQuoted(text: string, at: number): Piece {
  const end = text.indexOf("'", at + 1);
  if (end === -1) return unclear('a quote that is not closed', at);
  const inner = text.slice(at + 1, end);
  return notAscii(inner, at + 1) ?? { text: inner, end: end + 1 };
}

/**
 * The lexer expands nothing, so characters that a shell would expand are unclear, also "!", which interactive shells
 * expand.
 */
function doubleQuoted(text: string, at: number): Piece {
  let inner = '';
  for (let here = at + 1; here < text.length; here++) {
    const character = text[here]!;
    if (character === '"') return { text: inner, end: here + 1 };
    if ('$`!'.includes(character)) return unclear(`${named(character)} in double quotes`, here);
    if (character === '\\') {
      const next = text[here + 1];
      if (next === undefined || next === '!') return unclear('a backslash', here);
      if ('$`"\\'.includes(next)) here++;
    }
    const unsupported = notAscii(text[here]!, here);
    if (unsupported) return unsupported;
    inner += text[here];
  }
  return unclear('a quote that is not closed', at);
}

function escaped(text: string, at: number): Piece {
  const next = text[at + 1];
  if (next === undefined) return unclear('a backslash at the end', at);
  return notAscii(next, at + 1) ?? { text: next, end: at + 2 };
}

/** The character set of the shell is unknown, so other bytes may be read as other characters there. */
function notAscii(text: string, at: number): { readonly unclear: string } | null {
  const index = [...text].findIndex((character) => !printableAscii.test(character) || character.length !== 1);
  return index === -1 ? null : unclear(named([...text][index]!), at + index);
}

/** `NAME=value` before the command is an assignment and not a word. */
function assignment(text: string): { readonly unclear: string } | null {
  const first = text.trimStart().split(/[ \t]/, 1)[0]!;
  return first.includes('=') ? { unclear: 'an assignment before the command' } : null;
}

function unclear(what: string, at: number): { readonly unclear: string } {
  return { unclear: `${what} (character ${at + 1})` };
}

function named(character: string): string {
  if (character === '\n' || character === '\r') return 'a new line';
  return printableAscii.test(character) && character.length === 1
    ? `"${character}"`
    : `the character U+${character.codePointAt(0)!.toString(16).padStart(4, '0')}`;
}
