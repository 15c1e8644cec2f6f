/** What requests and answers about rooms look like. */
import { z } from 'zod';
import { ulidPattern } from '../../model/ulid.ts';
import { messageIdRule, roomNamePattern, roomNameRule } from './model/room.ts';

const roomName = z.string().regex(roomNamePattern, roomNameRule);
export const messageId = z.string().regex(ulidPattern, messageIdRule);
const participantName = z.string().min(1).max(64);
const vias = ['cli', 'inbox', 'hub', 'webhook', 'watch'] as const;
const kinds = ['person', 'sandbox', 'outside', 'service'] as const;

const retention = z.strictObject({
  days: z.number().positive().max(36_500).optional(),
  messages: z.int().min(1).max(1_000_000_000).optional(),
});

export const roomRequest = z.strictObject({
  name: roomName,
  /** A folder of the owner; left out, one in the home of the installation. */
  at: z.string().startsWith('/').max(4096).optional(),
  keepDays: retention.shape.days,
  keepMessages: retention.shape.messages,
});

export const messageRequest = z.strictObject({
  body: z.string().min(1).max(16_000_000),
  replyTo: messageId.optional(),
  attachments: z
    .array(z.strictObject({ name: z.string().min(1).max(255), contentBase64: z.base64() }))
    .max(1000)
    .optional(),
  /** The same key twice is one message, so a request can be repeated. */
  key: z.string().min(1).max(200).optional(),
});

export const messageView = z.strictObject({
  id: z.string(),
  from: z.string(),
  at: z.string(),
  via: z.enum(vias),
  mentions: z.array(z.string()).readonly(),
  replyTo: z.string().nullable(),
  attachments: z.array(z.strictObject({ name: z.string(), bytes: z.int() })).readonly(),
  body: z.string(),
});

export const membersRequest = z.strictObject({ add: participantName.optional(), remove: participantName.optional() });

export const memberView = z.strictObject({
  name: z.string(),
  /** Null: it was mentioned and has not posted. */
  kind: z.enum(kinds).nullable(),
  lastPostAt: z.string().nullable(),
  lastReadAt: z.string().nullable(),
  /** The id of the last message it read. */
  position: z.string().nullable(),
  unread: z.int(),
  /** The folder of the host in which its files become messages; null: it has none. */
  inbox: z.string().nullable(),
});

export const positionRequest = z.strictObject({ id: messageId });
export const positionView = z.strictObject({ position: z.string() });

const argv = z.array(z.string().min(1).max(100_000)).min(1).max(1000);

/** One of `run`, `webhook` and `wake`. */
export const watchRequest = z
  .strictObject({
    /** The participant whose mentions it handles; with `wake` the name of a sandbox. */
    who: participantName,
    /** Every message, not mentions only. */
    all: z.boolean().optional(),
    run: argv.optional(),
    webhook: z
      .url({ protocol: /^https?$/, error: 'use an address that begins with http:// or https://' })
      .max(2000)
      .optional(),
    /** Signs the requests of a webhook. */
    secret: z.string().min(1).max(64).optional(),
    /** The fleet that declares it: a watcher of that fleet is changed and keeps its position. */
    fleet: z.string().min(1).max(63).optional(),
    wake: z.strictObject({ agent: z.string().max(64).optional(), command: argv.optional() }).optional(),
  })
  .refine(({ run, webhook, wake }) => [run, webhook, wake].filter((one) => one !== undefined).length === 1, {
    message: 'has one of run, webhook and wake',
  })
  .refine(({ webhook, secret }) => secret === undefined || webhook !== undefined, { message: 'secret is for webhook' });

export const watchView = z.strictObject({
  who: z.string(),
  kind: z.enum(['run', 'webhook', 'wake']),
  command: z.array(z.string()).optional(),
  url: z.string().optional(),
  all: z.boolean(),
  /** The fleet whose carrel.yaml declares it. */
  fleet: z.string().nullable(),
  createdAt: z.string(),
  /** Why the watcher is paused; null: it is not. */
  paused: z.string().nullable(),
  handling: z.strictObject({ message: z.string(), attempts: z.int() }).nullable(),
  handled: z.int(),
  /** Messages that the watcher gave up; they are in dead/. */
  failed: z.int(),
});

export const watcherRequest = z.strictObject({ who: participantName });

export const roomView = z.strictObject({
  name: z.string(),
  user: z.string(),
  folder: z.string(),
  createdAt: z.string(),
  retention: retention.nullable(),
  /** Null, like all counts: the room cannot be opened. */
  messages: z.int().nullable(),
  archived: z.int().nullable(),
  refused: z.int().nullable(),
  /** Messages that the user has not read. */
  unread: z.int().nullable(),
  /** How inboxes are watched; polling is slower. */
  watch: z.enum(['inotify', 'polling']).nullable(),
  lastId: z.string().nullable(),
  /** Why it cannot be opened. */
  trouble: z.string().nullable(),
});

const webhookView = z.strictObject({
  path: z.string(),
  verify: z.enum(['twilio', 'hmac', 'bearer']),
  accepted: z.int(),
  refused: z.int(),
  lastRefusal: z.strictObject({ at: z.string(), reason: z.string() }).nullable(),
});

export const roomDetailView = roomView.extend({
  /** Requests from outside that become messages; for the owner of the installation. */
  webhooks: z.array(webhookView),
  members: z.array(memberView).readonly(),
  last: messageView.nullable(),
  /** Files of the folder that differed from the room and were written again. */
  repaired: z.int(),
});

export const refusalView = z.strictObject({
  at: z.string(),
  from: z.string(),
  /** Its name in the inbox. */
  name: z.string(),
  /** Its name in dead/; the reason is beside it. */
  file: z.string(),
  reason: z.string(),
});

export const removedRoomView = z.strictObject({
  name: z.string(),
  folder: z.string(),
  /** False: the folder is the user's own and stays. */
  isFolderRemoved: z.boolean(),
});

export type WatchRequest = z.output<typeof watchRequest>;
export type WatchView = z.output<typeof watchView>;
export type WebhookView = z.output<typeof webhookView>;
export type RoomRequest = z.input<typeof roomRequest>;
export type MessageRequest = z.input<typeof messageRequest>;
export type MessageView = z.output<typeof messageView>;
export type MemberView = z.output<typeof memberView>;
export type RoomView = z.output<typeof roomView>;
export type RoomDetailView = z.output<typeof roomDetailView>;
export type RefusalView = z.output<typeof refusalView>;
export type RemovedRoomView = z.output<typeof removedRoomView>;
