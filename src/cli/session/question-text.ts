/** Questions of agents as text, and the keys that answer them. */
import type { GivenAnswer, Question } from '../../model/session.ts';
import { plain } from '../output/text.ts';

type Option = NonNullable<Question['options']>[number];

const letters: Readonly<Record<string, string>> = {
  allow_once: 'y',
  allow_always: 'a',
  reject_once: 'n',
  reject_always: 'd',
};

/** Options by the key that chooses them: letters for permissions, numbers for all others. */
export function keysOf({ options = [] }: Question): ReadonlyMap<string, Option> {
  const keys = new Map<string, Option>();
  for (const [index, option] of options.entries()) {
    const letter = letters[option.kind ?? ''];
    keys.set(letter !== undefined && !keys.has(letter) ? letter : String(index + 1), option);
  }
  return keys;
}

/** `y Allow, n Reject`; empty where the answer is typed. */
export function optionsText(question: Question): string {
  return [...keysOf(question)].map(([key, { name }]) => `${key} ${plain(name)}`).join(', ');
}

export function answerText(question: Question | undefined, { optionId, content, cancelled }: GivenAnswer): string {
  if (cancelled) return 'cancelled';
  if (optionId !== undefined) return plain(question?.options?.find(({ id }) => id === optionId)?.name ?? optionId);
  return plain(Object.values(content ?? {}).join(', '));
}
