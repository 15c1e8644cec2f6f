/** Which words differ between a deleted line and the added line that replaces it. */

export interface WordPart {
  readonly text: string;
  readonly changed: boolean;
}

/** Longer lines are compared at their beginning and end only. */
const maxWords = 400;

/** Null: the lines have no word in common, so marks would not help. */
export function wordDiff(before: string, after: string): { readonly old: WordPart[]; readonly now: WordPart[] } | null {
  const [old, now] = [wordsOf(before), wordsOf(after)];
  const start = commonStart(old, now);
  const end = commonEnd(old.slice(start), now.slice(start));
  const middles = [old.slice(start, old.length - end), now.slice(start, now.length - end)] as const;
  const kept = longestCommon(...middles);
  const common = [...old.slice(0, start), ...kept.words, ...old.slice(old.length - end)];
  if (!common.some((word) => /\w/.test(word))) return null;
  const parts = (words: readonly string[], same: ReadonlySet<number>) =>
    joined(words.map((text, n) => ({ text, changed: n >= start && n < words.length - end && !same.has(n - start) })));
  return { old: parts(old, kept.old), now: parts(now, kept.now) };
}

function wordsOf(line: string): string[] {
  return line.match(/\w+|\s+|[^\w\s]/gu) ?? [];
}

function commonStart(one: readonly string[], other: readonly string[]): number {
  let length = 0;
  while (length < one.length && length < other.length && one[length] === other[length]) length += 1;
  return length;
}

function commonEnd(one: readonly string[], other: readonly string[]): number {
  return commonStart([...one].reverse(), [...other].reverse());
}

interface Common {
  readonly words: string[];
  readonly old: Set<number>;
  readonly now: Set<number>;
}

function longestCommon(old: readonly string[], now: readonly string[]): Common {
  const found: Common = { words: [], old: new Set(), now: new Set() };
  if (old.length > maxWords || now.length > maxWords) return found;
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = now.length - 1; j >= 0; j -= 1)
      lengths[i]![j] =
        old[i] === now[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
  for (let i = 0, j = 0; i < old.length && j < now.length; ) {
    if (old[i] === now[j]) {
      found.words.push(old[i]!);
      found.old.add(i++);
      found.now.add(j++);
    } else if (lengths[i + 1]![j]! >= lengths[i]![j + 1]!) i += 1;
    else j += 1;
  }
  return found;
}

function joined(parts: readonly WordPart[]): WordPart[] {
  const result: WordPart[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (last?.changed === part.changed) result[result.length - 1] = { ...last, text: last.text + part.text };
    else result.push(part);
  }
  return result;
}
