/** What a spoke may answer. Any process in its sandbox could write in its place, so every answer is validated. */
import { z } from 'zod';
import type { FaultBody } from '../../../model/fault.ts';
import { maxListedFiles } from '../model/edit.ts';
import type { Nothing, SpokeMethod, SpokeMethods } from '../model/spoke.ts';
import { codeEditResults } from './code-edit-shape.ts';
import { codeResults } from './code-shape.ts';

const text = z.string();
const count = z.int().min(0);
const changed = z.object({ paths: z.array(text), dryRun: z.boolean() });

const nothing = z.object({}) as z.ZodType<Nothing>;

const results: { readonly [M in SpokeMethod]: z.ZodType<SpokeMethods[M][1]> } = {
  'spoke/ping': z.object({}),
  'file/read': z.object({
    path: text,
    encoding: z.enum(['utf-8', 'base64']),
    content: text,
    sizeBytes: count,
    hash: text,
    lines: count.nullable(),
    truncated: z.boolean(),
  }),
  'file/write': z.object({ path: text, hash: text, sizeBytes: count, created: z.boolean(), dryRun: z.boolean() }),
  'file/remove': changed,
  'file/rename': changed,
  'file/list': z.object({
    items: z.array(z.object({ path: text, kind: z.enum(['file', 'folder', 'link', 'other']), sizeBytes: count })),
    more: z.boolean(),
  }),
  'text/search': z.object({
    items: z.array(z.object({ path: text, line: count, column: count, text })),
    more: z.boolean(),
  }),
  'command/run': z.object({
    exitCode: z.int().nullable(),
    signal: text.nullable(),
    timedOut: z.boolean(),
    durationMs: count,
    stdout: text,
    stderr: text,
    truncated: z.boolean(),
    failedTests: z.array(text.max(300)).max(200),
  }),
  'edit/prepare': z.object({
    files: z
      .array(
        z.object({
          path: text,
          outcome: z.enum(['changed', 'created', 'renamed', 'deleted']),
          to: text.nullable(),
          hash: text.nullable(),
        }),
      )
      .max(maxListedFiles),
    count,
    diff: text,
    diffTruncated: z.boolean(),
  }),
  'edit/apply': nothing,
  'edit/abort': z.object({ left: z.array(text) }),
  'edit/finish': nothing,
  ...codeResults,
  ...codeEditResults,
};

/** The codes that a spoke may use. The others are reserved for the daemon. */
const fault = z.object({
  code: z.enum([
    'invalid',
    'denied',
    'not_found',
    'conflict',
    'exhausted',
    'unsupported',
    'unavailable',
    'cancelled',
    'internal',
  ]),
  message: text.max(2000),
  hint: text.max(2000).optional(),
});

const message = z.union([
  z.object({ id: count, result: z.unknown() }).transform(({ id, result }) => ({ kind: 'result' as const, id, result })),
  z
    .object({ id: count, fault })
    .transform(({ id, fault: body }) => ({ kind: 'fault' as const, id, fault: body as FaultBody })),
  z.object({ id: count, output: text }).transform(({ id, output }) => ({ kind: 'output' as const, id, output })),
]);

export type SpokeMessage = z.output<typeof message>;

/** Throws if the line is not a message. */
export function parseMessage(line: string): SpokeMessage {
  return message.parse(JSON.parse(line));
}

export function parseResult<M extends SpokeMethod>(method: M, result: unknown): SpokeMethods[M][1] {
  return results[method].parse(result) as SpokeMethods[M][1];
}
