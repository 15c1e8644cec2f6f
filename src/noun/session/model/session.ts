/**
 * Sessions: conversations with agents. `docs/formats/session.md` has the format and its rules.
 *
 * The event log is the truth. `session-fold.ts` computes everything else from it: state, open questions, messages.
 */
import { list, object, oneOf, plainObject, type Shape, ShapeError, text } from '../../../model/shape.ts';
import { ulidPattern } from '../../../model/ulid.ts';

export type SessionState = 'idle' | 'working' | 'waiting' | 'failed' | 'closed';

export const stopReasons = [
  'end_turn',
  'max_tokens',
  'max_turn_requests',
  'refusal',
  'cancelled',
  /** The agent, or the program that drives it, was killed. */
  'interrupted',
  'failed',
] as const;
export type StopReason = (typeof stopReasons)[number];

/** The data of each type of event. */
export interface EventData {
  readonly 'session.created': {
    readonly agent: string;
    readonly cwd: string;
    readonly title?: string;
    readonly forkedFrom?: { readonly sessionId: string; readonly seq: number };
  };
  /** Present fields replace earlier values. */
  readonly 'session.configured': {
    readonly modes?: Choice;
    readonly models?: Choice;
    readonly commands?: readonly { readonly name: string; readonly description: string }[];
    readonly canLoad?: boolean;
    readonly canFork?: boolean;
  };
  readonly 'session.titled': { readonly title: string };
  readonly 'session.note': { readonly text: string };
  readonly 'session.failed': { readonly reason: string };
  readonly 'session.closed': object;
  readonly prompt: { readonly content: readonly ContentBlock[] };
  readonly 'turn.started': object;
  readonly text: { readonly text: string; readonly truncated?: boolean };
  readonly thought: { readonly text: string; readonly truncated?: boolean };
  readonly tool: ToolChange;
  readonly plan: { readonly entries: readonly PlanEntry[] };
  readonly question: Question;
  readonly answer: QuestionAnswer;
  readonly update: Readonly<Record<string, unknown>>;
  readonly 'turn.ended': { readonly stopReason: StopReason; readonly reason?: string };
}

export type EventType = keyof EventData;

export type SessionEvent = {
  [T in EventType]: {
    /** From 1, without gaps. */
    readonly seq: number;
    /** ISO 8601, UTC. */
    readonly at: string;
    readonly sessionId: string;
    readonly turnId?: string;
    readonly type: T;
    readonly data: EventData[T];
  };
}[EventType];

/** Modes or models: the available ones, and the one in use. */
export interface Choice {
  readonly current: string;
  readonly available: readonly { readonly id: string; readonly name: string; readonly description?: string }[];
}

export type ContentBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mimeType: string; readonly data: string }
  | { readonly type: 'resource_link'; readonly uri: string; readonly name: string };

/** A tool call, or the changed fields of one. `content` as the Agent Client Protocol has it: text, diffs, terminals. */
export interface ToolChange {
  readonly toolCallId: string;
  readonly title?: string;
  readonly kind?: string;
  readonly status?: 'pending' | 'in_progress' | 'completed' | 'failed';
  readonly content?: readonly Readonly<Record<string, unknown>>[];
  readonly locations?: readonly { readonly path: string; readonly line?: number }[];
  readonly rawInput?: unknown;
  readonly rawOutput?: unknown;
  readonly truncated?: boolean;
}

export interface PlanEntry {
  readonly content: string;
  readonly priority: string;
  readonly status: string;
}

export interface Question {
  readonly pendingId: string;
  readonly kind: 'permission' | 'question';
  readonly title: string;
  /** One of these is the answer; absent: the answer is `content` of the schema. */
  readonly options?: readonly { readonly id: string; readonly name: string; readonly kind?: string }[];
  /** JSON schema of the answer, as elicitation has it. */
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly toolCallId?: string;
}

export interface QuestionAnswer {
  readonly pendingId: string;
  readonly optionId?: string;
  readonly content?: Readonly<Record<string, unknown>>;
  readonly cancelled?: boolean;
}

export interface SessionMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant' | 'system';
  readonly parts: readonly MessagePart[];
  readonly createdAt: string;
}

export type MessagePart =
  | ContentBlock
  | { readonly type: 'thought'; readonly text: string }
  | ({ readonly type: 'tool' } & ToolChange)
  | { readonly type: 'plan'; readonly entries: readonly PlanEntry[] }
  | ({ readonly type: 'question'; readonly answer?: QuestionAnswer } & Question);

export const sessionLimits = {
  sessions: 100,
  logBytes: 64 * 1024 ** 2,
  promptBytes: 1024 ** 2,
  textBytes: 256 * 1024,
  /** The size of one line of the log. */
  eventBytes: 2 * 1024 ** 2,
  queuedPrompts: 1000,
} as const;

/** The program, its port and its folder inside the sandbox. */
export const agentApiPath = '/opt/carrel/bin/carrel-agent-api';
export const agentApiPort = 3002;
export const sessionsFolder = '/.data/sessions';

export const sessionId = text({ pattern: ulidPattern, says: 'the id of a session' });
/** Ids that clients make, such as that of a turn. */
export const clientId = text({ pattern: /^[A-Za-z0-9_-]{1,64}$/, says: '1 to 64 letters, digits, "-" and "_"' });

const block: Shape<ContentBlock> = (value, path) => {
  const { type } = plainObject(value, path);
  if (type === 'text') return object({ type: oneOf('text'), text: text() })(value, path);
  if (type === 'image')
    return object({ type: oneOf('image'), mimeType: text({ max: 100 }), data: text() })(value, path);
  if (type === 'resource_link')
    return object({ type: oneOf('resource_link'), uri: text({ max: 10_000 }), name: text({ max: 1000 }) })(value, path);
  throw new ShapeError([...path, 'type'], 'must be "text", "image" or "resource_link"');
};
export const promptContent = list(block, 1000);
