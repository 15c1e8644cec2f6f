/** Names that agents chose, for people and for lines. */
import { isUtf8 } from 'node:buffer';
import { blank } from '../../model/invisible.ts';
import { plain } from './text.ts';

export interface ShownPath {
  readonly path: string;
  /** The bytes, where they are no text. */
  readonly pathBase64?: string | undefined;
}

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '"': '\\"', '\\': '\\\\' };

/** As it is when nothing about it is odd, else in quotes with escapes, the way git writes it: one line, nothing lost. */
export function pathText({ path, pathBase64 }: ShownPath): string {
  if (pathBase64 === undefined && isTame(path)) return path;
  const bytes = pathBase64 === undefined ? Buffer.from(path) : Buffer.from(pathBase64, 'base64');
  return `"${characters(bytes).map(escaped).join('')}"`;
}

function isTame(path: string): boolean {
  return path !== '' && path.trim() === path && !/["\\]/.test(path) && isPlain(path);
}

/** Whole characters, and single bytes where there is none. */
function characters(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += found.at(-1)!.length) {
    const candidates = [1, 2, 3, 4].map((length) => bytes.subarray(at, at + length));
    found.push(candidates.find((piece) => isUtf8(piece)) ?? candidates[0]!);
  }
  return found;
}

function escaped(piece: Buffer): string {
  const text = piece.toString('utf8');
  if (short[text] !== undefined) return short[text];
  if (isUtf8(piece) && isPlain(text)) return text;
  return [...piece].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}

/** Names that differ by a blank of another kind look alike. */
function isPlain(text: string): boolean {
  return plain(text) === text && text.search(blank) < 0;
}
