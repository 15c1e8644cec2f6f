/** The first words of commands of two words. */
export const commandGroups = [
  ...(['engine', 'swarm', 'task', 'policy', 'volume', 'home', 'secret', 'image', 'user'] as const),
  ...(['net', 'credential', 'port', 'project', 'hub'] as const),
] as const;
export type CommandGroup = (typeof commandGroups)[number];

/** The other spelling of a verb, in every group → the one that help shows. */
const otherSpellings = new Map([
  ['list', 'ls'],
  ['remove', 'rm'],
  ['cleanup', 'clean'],
]);

/** The words after `carrel`, with the verb as help shows it: `swarm list` becomes `swarm ls`. Arguments stay. */
export function canonicalWords(words: readonly string[]): string[] {
  const verb = (commandGroups as readonly string[]).includes(words[0] ?? '') ? 1 : 0;
  return words.map((word, index) => (index === verb ? (otherSpellings.get(word) ?? word) : word));
}
