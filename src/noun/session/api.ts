/** What requests and answers about sessions look like: the same inside a sandbox, at port 3002, and in the daemon. */
import { z } from 'zod';
import { ulidPattern } from '../../model/ulid.ts';
import { sandboxRequest } from '../sandbox/api.ts';

export const sessionIdText = z.string().regex(ulidPattern);
const clientIdText = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);

const block = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({ type: z.literal('image'), mimeType: z.string().max(100), data: z.string() }),
  z.strictObject({ type: z.literal('resource_link'), uri: z.string().max(10_000), name: z.string().max(1000) }),
]);

export const sessionRequest = z.strictObject({
  /** Made by the client, so that the request can be repeated; left out, the server makes one. */
  sessionId: sessionIdText.optional(),
  /** A preset or an agent of config.yaml; left out, the default. */
  agent: z.string().min(1).max(200).optional(),
  title: z.string().min(1).max(200).optional(),
  mode: z.string().max(200).optional(),
  model: z.string().max(200).optional(),
});

/** A session in a sandbox that is created for it. */
export const sandboxSessionRequest = sessionRequest.extend({
  project: z.string().startsWith('/').max(4096),
  /** The name of the sandbox. */
  name: z.string().min(1).max(63).optional(),
  /** What the sandbox has besides a working copy of the project, and the key and network of the agent. */
  sandbox: sandboxRequest
    .omit({ name: true, user: true, project: true, command: true, stdin: true, terminal: true, console: true })
    .optional(),
});

/** Fields that are left out stay. */
export const configureRequest = z.strictObject({
  mode: z.string().max(200).optional(),
  model: z.string().max(200).optional(),
  title: z.string().min(1).max(200).optional(),
});

export const promptRequest = z.strictObject({
  /** Made by the client, so that the request can be repeated. */
  turnId: clientIdText.optional(),
  /** Either `text` or `content`. */
  text: z.string().min(1).max(1_000_000).optional(),
  content: z.array(block).min(1).max(1000).optional(),
  /** Wait for the running turn, instead of a conflict. */
  queue: z.boolean().optional(),
});
export const turnView = z.strictObject({ turnId: z.string(), seq: z.int() });

/** Exactly one of the three fields. */
export const answerRequest = z.strictObject({
  optionId: z.string().max(10_000).optional(),
  content: z.record(z.string(), z.unknown()).optional(),
  cancel: z.boolean().optional(),
});

export const forkRequest = z.strictObject({
  sessionId: sessionIdText.optional(),
  title: z.string().min(1).max(200).optional(),
});

const choice = z.strictObject({
  current: z.string(),
  available: z
    .array(z.strictObject({ id: z.string(), name: z.string(), description: z.string().optional() }))
    .readonly(),
});

export const questionView = z.strictObject({
  pendingId: z.string(),
  turnId: z.string(),
  at: z.string(),
  kind: z.enum(['permission', 'question']),
  title: z.string(),
  options: z
    .array(z.strictObject({ id: z.string(), name: z.string(), kind: z.string().optional() }))
    .readonly()
    .optional(),
  schema: z.record(z.string(), z.unknown()).optional(),
  toolCallId: z.string().optional(),
});

export const sessionView = z.strictObject({
  sessionId: z.string(),
  sandbox: z.string(),
  agent: z.string(),
  cwd: z.string(),
  title: z.string().nullable(),
  state: z.enum(['idle', 'working', 'waiting', 'failed', 'closed']),
  /** Why it is `failed`, or how its last turn ended unless it ended normally; null while a turn runs. */
  reason: z.string().nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
  /** `seq` of the last event. */
  seq: z.int(),
  /** The running turn, and the number of prompts that wait behind it. */
  turnId: z.string().nullable(),
  queued: z.int(),
  pending: z.array(questionView).readonly(),
  modes: choice.nullable(),
  models: choice.nullable(),
  forkedFrom: z.strictObject({ sessionId: z.string(), seq: z.int() }).nullable(),
  /** Changed files in the working copy; only from the daemon, on request. Null: there is no working copy. */
  changedFiles: z.int().nullable().optional(),
});

/** What is kept about a token for port 3002; never the token. */
export const sessionTokenView = z.strictObject({ id: z.string(), createdAt: z.string() });
export const newSessionToken = sessionTokenView.extend({
  token: z.string(),
  /** The address of the port on the host; null: the port is not open there. */
  url: z.string().nullable(),
});

export const messageView = z.strictObject({
  id: z.string(),
  role: z.enum(['user', 'assistant', 'system']),
  parts: z.array(z.looseObject({ type: z.string() })).readonly(),
  createdAt: z.string(),
});

export const eventView = z.strictObject({
  seq: z.int(),
  at: z.string(),
  sessionId: z.string(),
  turnId: z.string().optional(),
  type: z.string(),
  data: z.record(z.string(), z.unknown()),
});

export type SessionView = z.output<typeof sessionView>;
export type NewSessionToken = z.output<typeof newSessionToken>;
export type QuestionView = z.output<typeof questionView>;
export type SessionMessageView = z.output<typeof messageView>;
