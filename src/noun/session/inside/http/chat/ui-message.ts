/** Messages of a session as UI messages of Vercel's `ai` package, and back. */

import { list, oneOf, open, plainObject, type Shape, ShapeError, text } from '../../../../../model/shape.ts';
import type { ContentBlock, MessagePart, SessionMessage } from '../../../model/session.ts';
import type { Chunk } from './ui-stream.ts';
import { errorText, toolName, toolOutput } from './ui-stream.ts';

type ToolPart = Extract<MessagePart, { type: 'tool' }>;
type QuestionPart = Extract<MessagePart, { type: 'question' }>;

export interface UiMessage {
  readonly id: string;
  readonly role: SessionMessage['role'];
  readonly metadata: { readonly createdAt: string };
  readonly parts: readonly Chunk[];
}

/** `approvals`: a tool call that waits for a permission gets the state that version 6 has for that. */
export function uiMessage({ id, role, createdAt, parts }: SessionMessage, approvals: boolean): UiMessage {
  const questions = approvals ? parts.filter((part) => part.type === 'question') : [];
  return { id, role, metadata: { createdAt }, parts: parts.map((part) => uiPart(part, questions)) };
}

function uiPart(part: MessagePart, questions: readonly QuestionPart[]): Chunk {
  if (part.type === 'text') return { type: 'text', text: part.text, state: 'done' };
  if (part.type === 'thought') return { type: 'reasoning', text: part.text, state: 'done' };
  if (part.type === 'image')
    return { type: 'file', mediaType: part.mimeType, url: `data:${part.mimeType};base64,${part.data}` };
  if (part.type === 'resource_link')
    return { type: 'file', mediaType: 'application/octet-stream', filename: part.name, url: part.uri };
  if (part.type === 'tool') return uiTool(part, questions);
  if (part.type === 'plan') return { type: 'data-plan', id: 'plan', data: { entries: part.entries } };
  const { type: _, ...question } = part;
  return { type: 'data-question', id: part.pendingId, data: question };
}

function uiTool(tool: ToolPart, questions: readonly QuestionPart[]): Chunk {
  const { toolCallId, rawInput: input = {} } = tool;
  const common = { type: 'dynamic-tool', toolCallId, toolName: toolName(tool), input, providerExecuted: true };
  if (tool.status === 'completed') return { ...common, state: 'output-available', output: toolOutput(tool) };
  if (tool.status === 'failed') return { ...common, state: 'output-error', errorText: errorText(tool) };
  const question = questions.find((one) => one.toolCallId === toolCallId && one.answer === undefined);
  if (question === undefined) return { ...common, state: 'input-available' };
  return { ...common, state: 'approval-requested', approval: { id: question.pendingId } };
}

/** The request that `useChat` sends. */
export interface ChatRequest {
  readonly id?: string;
  readonly trigger?: string;
  readonly messageId?: string;
  readonly messages: readonly SentMessage[];
}

export interface SentMessage {
  readonly id?: string;
  readonly role: SessionMessage['role'];
  readonly parts: readonly Readonly<Record<string, unknown>>[];
}

const short = text({ max: 1000 });
const sentMessage: Shape<SentMessage> = open(
  { role: oneOf('user', 'assistant', 'system'), parts: list(plainObject, 10_000) },
  { id: short },
);
export const chatRequest: Shape<ChatRequest> = (value, path) => {
  const body = plainObject(value, path);
  // JSON leaves out undefined fields; other programs send null.
  const there = Object.fromEntries(Object.entries(body).filter(([, one]) => one !== null));
  return open({ messages: list(sentMessage, 10_000) }, { id: short, trigger: short, messageId: short })(there, path);
};

export function contentOf({ parts }: SentMessage): readonly ContentBlock[] {
  const blocks = parts.flatMap((part) => blockOf(part));
  if (blocks.length === 0) throw new ShapeError(['messages'], 'the last message has no text and no file');
  return blocks;
}

/** Parts of other types are for the front end. */
function blockOf({ type, ...part }: Readonly<Record<string, unknown>>): readonly ContentBlock[] {
  if (type === 'text' && typeof part.text === 'string') return [{ type, text: part.text }];
  if (type !== 'file' || typeof part.url !== 'string') return [];
  const [, mimeType, data] = /^data:(image\/[\w.+-]+);base64,([\w+/=]*)$/.exec(part.url) ?? [];
  if (mimeType !== undefined && data !== undefined) return [{ type: 'image', mimeType, data }];
  if (part.url.startsWith('data:'))
    throw new ShapeError(['messages'], 'of files with their content, only images are accepted');
  return [{ type: 'resource_link', uri: part.url, name: String(part.filename ?? part.url).slice(0, 1000) }];
}
