/** Colours and attributes of text, as the parameters of the sequences that set them. */

/** Keyed by the attribute that a code sets, so that a later code replaces an earlier one. */
export type Style = ReadonlyMap<string, string>;

export const plainStyle: Style = new Map();

const attributes: Readonly<Record<number, string>> = {
  1: 'bold',
  2: 'dim',
  3: 'italic',
  4: 'underline',
  5: 'blink',
  7: 'inverse',
  8: 'hidden',
  9: 'strike',
  21: 'underline',
  53: 'overline',
};
const resets: Readonly<Record<number, readonly string[]>> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  25: ['blink'],
  27: ['inverse'],
  28: ['hidden'],
  29: ['strike'],
  39: ['colour'],
  49: ['background'],
  55: ['overline'],
  59: ['line-colour'],
};
const colours: Readonly<Record<number, string>> = { 38: 'colour', 48: 'background', 58: 'line-colour' };

export function restyled(before: Style, params: string): Style {
  const style = new Map(before);
  const words = params.split(';');
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    const code = Number.parseInt(word || '0', 10);
    const place = colours[code];
    if (code === 0) style.clear();
    else if (place === undefined) setPlain(style, code, word);
    else {
      const length = word.includes(':') ? 1 : words[at + 1] === '5' ? 3 : 5;
      style.set(place, words.slice(at, at + length).join(';'));
      at += length - 1;
    }
  }
  return style.size === 0 ? plainStyle : style;
}

function setPlain(style: Map<string, string>, code: number, word: string): void {
  if (code === 4 && word === '4:0') return void style.delete('underline');
  for (const place of resets[code] ?? []) style.delete(place);
  if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) style.set('colour', word);
  else if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) style.set('background', word);
  else if (attributes[code] !== undefined) style.set(attributes[code], word);
}

/** The sequence that sets exactly this style, whatever is set before. */
export function styleText(style: Style): string {
  return `\x1b[${['0', ...style.values()].join(';')}m`;
}
