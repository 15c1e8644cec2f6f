/** Edits of text as clients send them. */
import { z } from 'zod';
import type { TextEdit } from '../../model/edit.ts';

export const expectedHash = z
  .string()
  .length(64)
  .optional()
  .describe('hash from read_file; refused if the file has changed');
export const encoding = z.enum(['utf-8', 'base64']).default('utf-8');
export const line = z.int().min(1);
export const edit = z.union([
  z.strictObject({ old_text: z.string().min(1), new_text: z.string() }).describe('replaces the only occurrence'),
  z.strictObject({ start_line: line, end_line: z.int().min(0), new_text: z.string() }).describe('replaces these lines'),
]);
export function editOf(given: z.output<typeof edit>): TextEdit {
  if ('old_text' in given) return { oldText: given.old_text, newText: given.new_text };
  return { startLine: given.start_line, endLine: given.end_line, newText: given.new_text };
}
