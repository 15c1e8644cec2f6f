/** The other spellings of verbs, in every group of commands → the spelling that help shows. */
const otherSpellings = new Map([
  ['list', 'ls'],
  ['ps', 'ls'],
  ['remove', 'rm'],
  ['cleanup', 'clean'],
]);

/**
 * The words after `carrel`, with the verb as help shows it: `swarm list` becomes `swarm ls`. Arguments stay as they
 * are. `groups`: the first words of commands of two words.
 */
export function canonicalWords(words: readonly string[], groups: readonly string[]): string[] {
  const verb = groups.includes(words[0] ?? '') ? 1 : 0;
  return words.map((word, index) => (index === verb ? canonicalVerb(word) : word));
}

export function canonicalVerb(word: string): string {
  return otherSpellings.get(word) ?? word;
}
