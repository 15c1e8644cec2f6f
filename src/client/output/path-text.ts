/** Paths that agents chose, as safe text on one line. */
import { isUtf8 } from 'node:buffer';
import { blank } from '../../model/invisible.ts';
import { plain } from './text.ts';

export interface ShownPath {
  readonly path: string;
  /** The bytes of a path that is not valid UTF-8. */
  readonly pathBase64?: string | undefined;
}

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '"': '\\"', '\\': '\\\\' };

/** The path itself if it is ordinary, else in quotes with git's escapes: always one line, and nothing is lost. */
export function pathText({ path, pathBase64 }: ShownPath): string {
  if (pathBase64 === undefined && isTame(path)) return path;
  const bytes = pathBase64 === undefined ? Buffer.from(path) : Buffer.from(pathBase64, 'base64');
  return `"${characters(bytes).map(escaped).join('')}"`;
}

function isTame(path: string): boolean {
  return path !== '' && path.trim() === path && !/["\\]/.test(path) && isPlain(path);
}

/** Splits into UTF-8 characters, and into single bytes where the bytes are not valid UTF-8. */
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

/** Unusual blanks are not plain: names that differ only by them look the same. */
function isPlain(text: string): boolean {
  return plain(text) === text && text.search(blank) < 0;
}
