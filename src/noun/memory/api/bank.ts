/** What requests and answers about the memory bank look like. */
import { z } from 'zod';
import { count } from '../../../lib/schema/query.ts';
import { bankActs, isBankPath } from '../model/bank.ts';

const path = z.string().max(1024).refine(isBankPath, 'a file of the memory bank: PROJECT/FILE, without ".."');

const writer = z.strictObject({
  kind: z.enum(['person', 'sandbox', 'unknown']),
  name: z.string(),
  id: z.string().nullable(),
  agent: z.string().nullable(),
  session: z.string().nullable(),
});

export const bankVersionView = z.strictObject({
  path: z.string(),
  version: z.number(),
  at: z.string(),
  act: z.enum(bankActs),
  by: writer,
  bytes: z.number().nullable(),
  isKept: z.boolean(),
  diff: z.string().optional(),
});
export type BankVersionView = z.output<typeof bankVersionView>;

export const bankLogQuery = z.strictObject({
  /** A file or a folder. */
  path: path.optional(),
  limit: count.optional(),
  diffs: z.enum(['true', 'false']).optional(),
});
export type BankLogQuery = z.output<typeof bankLogQuery>;

export const bankRestoreRequest = z.strictObject({ path, version: z.int().min(1) });
export type BankRestoreRequest = z.output<typeof bankRestoreRequest>;
