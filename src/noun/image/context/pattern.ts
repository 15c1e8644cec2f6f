/** Matches names like shells and Dockerfiles do: `*`, `?` and `[a-z]`. Takes time in proportion to name and pattern. */
type Piece = { readonly one: (character: string) => boolean } | 'any';

export interface NamePattern {
  readonly pieces: readonly Piece[];
  /** The name, if the pattern can match only one; null: it has special characters. */
  readonly literal: string | null;
}

/** Null: the pattern is not well formed. */
export function namePattern(pattern: string): NamePattern | null {
  const characters = [...pattern];
  const pieces: Piece[] = [];
  let literal: string | null = '';
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at]!;
    const isSpecial = character === '*' || character === '?' || character === '[';
    if (isSpecial) literal = null;
    if (character === '*') pieces.push('any');
    else if (character === '?') pieces.push({ one: () => true });
    else if (character === '[') {
      const found = characterClass(characters, at);
      if (found === null) return null;
      pieces.push(found.piece);
      at = found.end;
    } else {
      const meant = character === '\\' ? characters[++at] : character;
      if (meant === undefined) return null;
      if (literal !== null) literal += meant;
      pieces.push({ one: (given) => given === meant });
    }
  }
  return { pieces, literal };
}

function characterClass(characters: readonly string[], start: number): { piece: Piece; end: number } | null {
  const negated = characters[start + 1] === '^';
  const ranges: [string, string][] = [];
  let at = start + (negated ? 2 : 1);
  const next = () => (characters[at] === '\\' ? characters[++at] : characters[at]);
  for (; characters[at] !== ']'; at += 1) {
    const low = next();
    if (low === undefined || low === '-') return null;
    let high: string | undefined = low;
    if (characters[at + 1] === '-') {
      at += 2;
      high = next();
      if (high === undefined || high === ']') return null;
    }
    ranges.push([low, high]);
  }
  if (ranges.length === 0) return null;
  const one = (given: string) => ranges.some(([low, high]) => low <= given && given <= high) !== negated;
  return { piece: { one }, end: at };
}

export function matchesName({ pieces, literal }: NamePattern, name: string): boolean {
  if (literal !== null) return name === literal;
  return matches(
    pieces,
    [...name],
    (piece, character) => piece !== 'any' && piece.one(character),
    (piece) => piece === 'any',
  );
}

/** `isAny` pieces match any number of items. Backtracks to the last of them only, so it never takes long. */
export function matches<P, T>(
  pieces: readonly P[],
  items: readonly T[],
  isOne: (piece: P, item: T) => boolean,
  isAny: (piece: P) => boolean,
): boolean {
  let [piece, item] = [0, 0];
  let [lastAny, taken] = [-1, 0];
  while (item < items.length) {
    if (piece < pieces.length && isAny(pieces[piece]!)) {
      [lastAny, taken] = [piece, item];
      piece += 1;
    } else if (piece < pieces.length && isOne(pieces[piece]!, items[item]!)) {
      piece += 1;
      item += 1;
    } else if (lastAny >= 0) {
      taken += 1;
      [piece, item] = [lastAny + 1, taken];
    } else return false;
  }
  while (piece < pieces.length && isAny(pieces[piece]!)) piece += 1;
  return piece === pieces.length;
}
