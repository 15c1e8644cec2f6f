/** What a spoke may answer about code. */
import { z } from 'zod';
import { type CodeMethods, codeStatuses, type FilePlaces, severities } from '../model/code.ts';

const text = z.string();
const count = z.int().min(0);
const status = z.enum(codeStatuses);
const answer = { status, server: text.max(200), version: text.max(64) };
const range = { path: text, line: count, column: count, endLine: count, endColumn: count };
const symbol = z.object({ ...range, name: text, kind: text, detail: text });
const failure = z.object({ server: text, message: text });

function page<T extends z.ZodType>(item: T) {
  return z.object({ ...answer, items: z.array(item), more: z.boolean() });
}

/** Checks in place, without a copy: an answer may have a thousand places. Other fields are not shown. */
function areFiles(value: unknown): boolean {
  return Array.isArray(value) && value.every(isFile);
}

function isFile(value: unknown): boolean {
  const { path, places } = (value ?? {}) as Partial<FilePlaces>;
  return typeof path === 'string' && Array.isArray(places) && places.every(isPlace);
}

function isPlace(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  const [line, column, endLine, endColumn, shown] = value as unknown[];
  return isCount(line) && isCount(column) && isCount(endLine) && isCount(endColumn) && typeof shown === 'string';
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export const codeResults: { readonly [M in keyof CodeMethods]: z.ZodType<CodeMethods[M][1]> } = {
  'code/setup': z.strictObject({}),
  'code/locate': z.object({ ...answer, items: z.custom<readonly FilePlaces[]>(areFiles), more: z.boolean() }),
  'code/hover': z.object({ ...answer, text: text.nullable() }),
  'code/symbols': page(symbol),
  'code/search': z.object({
    status,
    servers: z.array(text),
    errors: z.array(failure),
    items: z.array(symbol),
    more: z.boolean(),
  }),
  'code/signature': page(z.object({ label: text, documentation: text, activeParameter: count.nullable() })),
  'code/complete': page(z.object({ label: text, kind: text, detail: text })),
  'code/diagnose': page(z.object({ ...range, severity: z.enum(severities), code: text, source: text, message: text })),
  'code/calls': page(z.object({ ...range, text, name: text, kind: text })),
};
