/** What requests and answers about shares look like. */

import { z } from 'zod';
import { consumerKinds, renderForms, shareNamePattern } from './model.ts';

export const shareName = z.string().regex(shareNamePattern);
const path = z.string().startsWith('/').max(4096);

/** `--at CONSUMER=PATH[:ro]`; a person sees the folder itself. */
const consumerRequest = z.strictObject({
  kind: z.enum(consumerKinds),
  name: z.string().min(1).max(128),
  path: path.nullable(),
  readonly: z.boolean(),
  /** The account inside of a container or a guest. */
  uid: z.int().min(0).max(999_999_999).nullable(),
});

export const addShareRequest = z.strictObject({
  name: shareName,
  folder: path,
  /** The folder as the client sees it: device and inode. */
  seen: z
    .string()
    .regex(/^\d{1,20}:\d{1,20}$/)
    .optional(),
  consumers: z.array(consumerRequest).max(100),
});

/** `waiting`: the consumer does not run, or does not exist yet; it gets the share at its next start. */
export const consumerStates = ['mounted', 'granted', 'waiting', 'missing', 'unknown'] as const;

export const consumerView = z.strictObject({
  /** KIND:NAME */
  consumer: z.string(),
  path: z.string(),
  readonly: z.boolean(),
  state: z.enum(consumerStates),
  /** Why it is not mounted or granted. */
  detail: z.string().nullable(),
});

export const shareView = z.strictObject({
  name: z.string(),
  folder: z.string(),
  /** The id of the group by which containers outside of Carrel have access. */
  groupId: z.int(),
  createdAt: z.string(),
  consumers: z.array(consumerView),
  /** What the owner should change, for example: all accounts can write to the folder, or the folder was replaced. */
  warnings: z.array(z.string()),
});

export const revokeRequest = z.strictObject({
  /** KIND:NAME or the name of a sandbox; left out: all consumers, and the share itself. */
  consumer: z.string().min(1).max(200).optional(),
  force: z.boolean().optional(),
});

export const revokeView = z.strictObject({
  name: z.string(),
  /** KIND:NAME of the consumers that lost the share. */
  revoked: z.array(z.string()),
  /** Sandboxes that were stopped for that. */
  stopped: z.array(z.string()),
  /** What the user still has to do outside of Carrel. */
  notes: z.array(z.string()),
});

export const verifyRequest = z.strictObject({ consumer: z.string().min(1).max(200).optional() });

export const verdictView = z.strictObject({
  consumer: z.string(),
  path: z.string(),
  result: z.enum(['verified', 'failed', 'not verified']),
  /** The side that failed; null: none did. */
  side: z.enum(['host', 'consumer']).nullable(),
  reason: z.string().nullable(),
  /** What to do, as a command if there is one. */
  hint: z.string().nullable(),
});

export const renderQuery = z.strictObject({ for: z.enum(renderForms) });
export const renderView = z.strictObject({ name: z.string(), text: z.string() });

export type AddShareRequest = z.input<typeof addShareRequest>;
export type ShareView = z.output<typeof shareView>;
export type ConsumerView = z.output<typeof consumerView>;
export type RevokeView = z.output<typeof revokeView>;
export type VerdictView = z.output<typeof verdictView>;
