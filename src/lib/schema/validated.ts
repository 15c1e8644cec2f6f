/** Checks a value against a schema; throws a Fault that names the first invalid field. */
import type { z } from 'zod';
import { Fault } from '../../model/fault.ts';
import { issueText } from './issue-text.ts';

export function validated<T extends z.ZodType>(schema: T, value: unknown, what: string): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const field = [what, ...issue.path].join('.');
  throw new Fault('invalid', `${field}: ${issueText(issue)}`, { data: { field } });
}
