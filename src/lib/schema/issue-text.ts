/** Error messages for the person who typed a value. They replace those of zod, which are for programmers. */
import type { z } from 'zod';
import { printable } from '../../model/name.ts';

const kinds: Readonly<Record<string, string>> = {
  ...{ string: 'text', number: 'a number', int: 'a whole number', boolean: 'true or false', array: 'a list' },
  ...{ object: 'a mapping', record: 'a mapping', null: 'null', undefined: 'left out' },
};

type Issue = z.core.$ZodIssue & { readonly origin?: string; readonly prefix?: string; readonly inclusive?: boolean };

const words: { readonly [code in Issue['code']]?: (issue: Issue) => string } = {
  invalid_format: ({ prefix }) =>
    prefix === undefined ? 'it is not written as it has to be' : `it has to start with ${prefix}`,
  invalid_key: () => 'a name in it is too long, empty, or not written as it has to be',
  unrecognized_keys: (issue) =>
    `${(issue as { keys?: readonly string[] }).keys?.map((key) => printable(key)).join(', ')} is not known here`,
  invalid_type: (issue) =>
    `it has to be ${kinds[String((issue as { expected?: unknown }).expected)] ?? 'something else'}`,
  invalid_value: (issue) =>
    `it has to be one of ${(issue as { values?: readonly unknown[] }).values?.map(String).join(', ')}`,
  too_small: (issue) => tooSmall(issue, Number((issue as { minimum?: unknown }).minimum)),
  too_big: (issue) => tooBig(issue, Number((issue as { maximum?: unknown }).maximum)),
};

export function issueText(issue: z.core.$ZodIssue): string {
  const isOwn = !/^(Invalid|Too|Unrecognized) /.test(issue.message);
  return isOwn ? issue.message : (words[issue.code]?.(issue) ?? issue.message);
}

function tooSmall({ origin, inclusive }: Issue, least: number): string {
  if (origin === 'string') return least === 1 ? 'it is empty' : `it is shorter than ${least} characters`;
  if (inclusive === false) return `it has to be more than ${least}`;
  return origin === 'array' ? `there are fewer than ${least}` : `it is smaller than ${least}`;
}

function tooBig({ origin }: Issue, most: number): string {
  if (origin === 'string') return `it is longer than ${most} characters`;
  return origin === 'array' ? `there are more than ${most}` : `it is larger than ${most}`;
}
