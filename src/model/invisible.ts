/**
 * Characters that show nothing, change how other text is shown, or mean something to a terminal: controls (Cc), format
 * characters with bidirectional ones and tags (Cf), lone surrogates, private and unassigned code points, separators of
 * lines, variation selectors, and whatever else Unicode lets programs ignore.
 */
export const invisible = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Blanks that differ from a space in their width only. */
export const blank = /[\p{Zs}\u2800](?<! )/gu;

export function hasInvisible(text: string): boolean {
  return text.search(invisible) >= 0;
}

/** `\u200b`, `\u{e0061}`. */
export function codeText(character: string): string {
  const code = character.codePointAt(0)!.toString(16).padStart(4, '0');
  return code.length > 4 ? `\\u{${code}}` : `\\u${code}`;
}

/**
 * JSON with the same meaning that is harmless on a terminal: invisible characters, which occur only within its strings,
 * are escaped.
 */
export function plainJson(json: string): string {
  return json.replace(invisible, (found) => (found === '\n' ? found : units(found)));
}

function units(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
