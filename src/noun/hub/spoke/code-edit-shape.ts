/** What a spoke may answer about edits that language servers computed. */
import { z } from 'zod';
import type { CodeEditMethods } from '../model/code-edit.ts';

const text = z.string();
const place = z.int().min(1);
const path = text.max(4200);
const expectedHash = text.length(64).optional();
const answer = {
  status: z.enum(['complete', 'indexing', 'timed_out']),
  server: text.max(200),
  version: text.max(64),
};
const range = z.object({ startLine: place, startColumn: place, endLine: place, endColumn: place, newText: text });
const change = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('edit'), path, edits: z.array(range), expectedHash }),
  z.object({
    ...{ kind: z.literal('create'), path, overwrite: z.boolean() },
    content: z.object({ encoding: z.enum(['utf-8', 'base64']), content: text }),
  }),
  z.object({ kind: z.literal('rename'), path, to: path, overwrite: z.boolean() }),
  z.object({ kind: z.literal('delete'), path, recursive: z.boolean(), expectedHash }),
]);

export const codeEditResults: { readonly [M in keyof CodeEditMethods]: z.ZodType<CodeEditMethods[M][1]> } = {
  'code/edit': z.object({ ...answer, changes: z.array(change).max(20_000) }),
  'code/actions': z.object({
    ...answer,
    actions: z.array(z.object({ id: text.length(16), title: text.max(2000), kind: text.max(500) })).max(200),
  }),
};
