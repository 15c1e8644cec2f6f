import { expect, it } from 'vitest';
import { z } from 'zod';
import { issueText } from './issue-text.ts';

const text = (schema: z.ZodType, value: unknown) => issueText(schema.safeParse(value).error!.issues[0]!);

it.each([
  [z.string().regex(/^[a-z]+$/), '/tmp', 'it is not written as it has to be'],
  [z.string().startsWith('/'), 'rel', 'it has to start with /'],
  [z.string().min(1), '', 'it is empty'],
  [z.string().max(3), 'long', 'it is longer than 3 characters'],
  [z.array(z.string()).max(1), ['a', 'b'], 'there are more than 1'],
  [z.number().positive(), 0, 'it has to be more than 0'],
  [z.number().min(1), 0, 'it is smaller than 1'],
  [z.int().max(9), 10, 'it is larger than 9'],
  [
    z.record(z.string().max(2), z.string()),
    { long: '' },
    'a name in it is too long, empty, or not written as it has to be',
  ],
])('issue %# is described without patterns and types', (schema, value, expected) => {
  expect(text(schema, value)).toBe(expected);
});

it('a message in the schema is kept', () => {
  expect(text(z.string().regex(/a/, 'use a'), 'b')).toBe('use a');
});
