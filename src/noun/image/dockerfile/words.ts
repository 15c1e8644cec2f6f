/** Splits an instruction into words, and expands variables in them. */

/** Split at white space outside of quotes; quotes and escapes stay in the words. */
export function splitWords(text: string, escaper: string): string[] {
  const words: string[] = [];
  let word = '';
  let quote = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (quote === '' && /\s/.test(character)) {
      if (word !== '') words.push(word);
      word = '';
      continue;
    }
    word += character;
    if (character === escaper && quote !== "'") word += text[++at] ?? '';
    else if (quote === character) quote = '';
    else if (quote === '' && (character === '"' || character === "'")) quote = character;
  }
  if (word !== '') words.push(word);
  return words;
}

/** The words of a JSON list; null: the text is not a JSON list of words. */
export function jsonWords(text: string): string[] | null {
  if (!text.startsWith('[')) return null;
  try {
    const words: unknown = JSON.parse(text);
    return Array.isArray(words) && words.every((word) => typeof word === 'string') ? words : null;
  } catch {
    return null;
  }
}

/** Removes quotes. Null: an escape or an open quote makes the result unclear. */
export function unquoted(word: string): string | null {
  if (/[\\`]/.test(word)) return null;
  const [parts, rest] = [/"([^"]*)"|'([^']*)'|([^"']+)/g, word.replace(/"[^"]*"|'[^']*'/g, '')];
  if (/["']/.test(rest)) return null;
  return [...word.matchAll(parts)].map(([, double, single, bare]) => double ?? single ?? bare ?? '').join('');
}

/** Expands `$NAME`, `${NAME}`, `${NAME:-else}` and `${NAME:+instead}`. Null: another use of a dollar. */
export function expand(text: string, variables: ReadonlyMap<string, string>): string | null {
  const form = /\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:(:[-+])([^{}$]*))?\})/g;
  if (text.replace(form, '').includes('$')) return null;
  return text.replace(form, (_all, bare?: string, braced?: string, operator?: string, word = '') => {
    const value = variables.get(bare ?? braced ?? '') ?? '';
    if (operator === ':-') return value === '' ? word : value;
    if (operator === ':+') return value === '' ? '' : word;
    return value;
  });
}
