/** Questions of agents as text, and the keys that answer them. */

import { plain } from '../../../client/output/text.ts';
import type { QuestionView } from '../api.ts';
import type { Question, QuestionAnswer } from '../model/session.ts';

/** The question of an event, or of a view. */
export type AnyQuestion = Question | QuestionView;
type Option = NonNullable<QuestionView['options']>[number];

const letters: Readonly<Record<string, string>> = {
  allow_once: 'y',
  allow_always: 'a',
  reject_once: 'n',
  reject_always: 'd',
};

/** Options by the key that chooses them: letters for permissions, numbers for all other options. */
export function keysOf({ options = [] }: AnyQuestion): ReadonlyMap<string, Option> {
  const keys = new Map<string, Option>();
  for (const [index, option] of options.entries()) {
    const letter = letters[option.kind ?? ''];
    keys.set(letter !== undefined && !keys.has(letter) ? letter : String(index + 1), option);
  }
  return keys;
}

/** `y Allow, n Reject`; empty if the answer is typed as text. */
export function optionsText(question: AnyQuestion): string {
  return [...keysOf(question)].map(([key, { name }]) => `${key} ${plain(name)}`).join(', ');
}

export function answerText(
  question: AnyQuestion | undefined,
  { optionId, content, cancelled }: QuestionAnswer,
): string {
  if (cancelled) return 'cancelled';
  if (optionId !== undefined) return plain(question?.options?.find(({ id }) => id === optionId)?.name ?? optionId);
  return plain(Object.values(content ?? {}).join(', '));
}

/** The command that answers a question from another terminal. */
export function questionHint({ sandbox }: { readonly sandbox: string }, question: AnyQuestion): string {
  const options = optionsText(question);
  const command = `carrel session answer ${sandbox} ${options === '' ? 'TEXT' : 'KEY'} --question ${question.pendingId}`;
  return `the agent asks: ${question.title}${options === '' ? '' : `  ${options}`}; answer with: ${command}`;
}
