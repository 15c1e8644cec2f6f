/** What a spoke may answer about code. */
import { z } from 'zod';
import type { CodeMethods } from '../model/code.ts';

const text = z.string();
const count = z.int().min(0);
const answer = {
  status: z.enum(['complete', 'indexing', 'timed_out']),
  server: text.max(200),
  version: text.max(64),
};
const place = z.object({ path: text, line: count, column: count, endLine: count, endColumn: count, text });

export const codeResults: { readonly [M in keyof CodeMethods]: z.ZodType<CodeMethods[M][1]> } = {
  'code/locate': z.object({ ...answer, items: z.array(place), more: z.boolean() }),
};
