/**
 * The events of a turn as the UI message stream of Vercel's `ai` package (`x-vercel-ai-ui-message-stream: v1`): the chunks that build one message of the
 * assistant. Only chunks and fields that version 5 of the package knows are sent, because it refuses others; `tool-approval-request` is of version 6 and sent
 * to clients that ask for approvals.
 */

import { clip } from '../../../../../model/shape.ts';
import type { EventData, Question, QuestionAnswer, SessionEvent, ToolChange } from '../../../model/session.ts';

export type Chunk = Readonly<Record<string, unknown>> & { readonly type: string };

export const uiStreamHeaders = { 'x-vercel-ai-ui-message-stream': 'v1' };

export class UiStream {
  readonly #approvals: boolean;
  #hasStarted = false;
  /** The part of text or reasoning that is not ended yet. */
  #open: { readonly kind: 'text' | 'reasoning'; readonly id: string } | null = null;
  /** Tool calls that the client knows, with all their changes merged. */
  readonly #tools = new Map<string, ToolChange>();
  readonly #questions = new Map<string, Question>();

  constructor({ approvals }: { readonly approvals: boolean }) {
    this.#approvals = approvals;
  }

  take(event: SessionEvent): readonly Chunk[] {
    const chunks = this.#chunks(event);
    if (chunks.length === 0 || this.#hasStarted) return chunks;
    this.#hasStarted = true;
    // `session-fold.ts` gives the same id to the message that begins with this event.
    return [{ type: 'start', messageId: `m${event.seq}` }, ...chunks];
  }

  #chunks(event: SessionEvent): readonly Chunk[] {
    if (event.type === 'text') return this.#grow('text', event.data.text, event.seq);
    if (event.type === 'thought') return this.#grow('reasoning', event.data.text, event.seq);
    if (event.type === 'tool') return [...this.#close(), ...this.#tool(event.data)];
    if (event.type === 'plan') return [...this.#close(), { type: 'data-plan', id: 'plan', data: event.data }];
    if (event.type === 'question') return [...this.#close(), ...this.#question(event.data)];
    if (event.type === 'answer') return this.#answer(event.data);
    if (event.type === 'turn.ended') return [...this.#close(), ...ending(event.data)];
    return [];
  }

  #grow(kind: 'text' | 'reasoning', delta: string, seq: number): readonly Chunk[] {
    const isSame = this.#open?.kind === kind;
    const before = isSame ? [] : [...this.#close(), { type: `${kind}-start`, id: `p${seq}` }];
    this.#open = isSame ? this.#open : { kind, id: `p${seq}` };
    return [...before, { type: `${kind}-delta`, id: this.#open!.id, delta }];
  }

  #close(): readonly Chunk[] {
    if (this.#open === null) return [];
    const { kind, id } = this.#open;
    this.#open = null;
    return [{ type: `${kind}-end`, id }];
  }

  #tool(change: ToolChange): readonly Chunk[] {
    const before = this.#tools.get(change.toolCallId);
    const tool = { ...before, ...change };
    this.#tools.set(change.toolCallId, tool);
    const isOver = tool.status === 'completed' || tool.status === 'failed';
    const isNamed = before !== undefined && change.title === undefined && change.rawInput === undefined;
    return [...(isNamed ? [] : [called(tool)]), ...(isOver ? [returned(tool)] : [])];
  }

  /** The client shows a permission beside its tool call, so a missing tool call is sent first. */
  #question(data: Question): readonly Chunk[] {
    this.#questions.set(data.pendingId, data);
    const chunk = { type: 'data-question', id: data.pendingId, data };
    if (data.kind !== 'permission') return [chunk];
    const { pendingId, toolCallId = pendingId, title } = data;
    const call = this.#tools.has(toolCallId) ? [] : this.#tool({ toolCallId, title });
    const approval = { type: 'tool-approval-request', approvalId: pendingId, toolCallId };
    return [...call, chunk, ...(this.#approvals ? [approval] : [])];
  }

  /** Data with the same id replaces what the client has. */
  #answer(answer: QuestionAnswer): readonly Chunk[] {
    const { pendingId: id } = answer;
    const question = this.#questions.get(id);
    return question === undefined ? [] : [{ type: 'data-question', id, data: { ...question, answer } }];
  }
}

/** The agent runs its tools itself: the front end must not. */
function called(tool: ToolChange): Chunk {
  const { toolCallId, rawInput: input = {} } = tool;
  return { type: 'tool-input-available', toolCallId, toolName: toolName(tool), input, ...byAgent };
}

function returned(tool: ToolChange): Chunk {
  const { toolCallId, status } = tool;
  if (status === 'failed') return { type: 'tool-output-error', toolCallId, errorText: errorText(tool), ...byAgent };
  return { type: 'tool-output-available', toolCallId, output: toolOutput(tool), ...byAgent };
}

const byAgent = { providerExecuted: true, dynamic: true };

function ending({ stopReason, reason }: EventData['turn.ended']): readonly Chunk[] {
  if (stopReason === 'cancelled') return [{ type: 'abort' }];
  const failed = stopReason === 'failed' || stopReason === 'interrupted';
  const error = failed ? [{ type: 'error', errorText: reason ?? `the turn was ${stopReason}` }] : [];
  return [...error, { type: 'finish' }];
}

export function toolName({ title, kind }: ToolChange): string {
  return clip(title || kind || 'tool', 200);
}

/** What the tool returned, or else the text that the agent shows of it. */
export function toolOutput({ rawOutput, content }: ToolChange): unknown {
  return rawOutput ?? textIn(content) ?? content ?? null;
}

export function errorText(tool: ToolChange): string {
  const output = toolOutput(tool);
  return textIn(tool.content) ?? (typeof output === 'string' ? output : 'the tool call failed');
}

function textIn(content: ToolChange['content'] = []): string | null {
  const texts = content.map(({ content: inner }) => (inner as { text?: unknown } | undefined)?.text);
  return texts.length > 0 && texts.every((text) => typeof text === 'string') ? texts.join('\n') : null;
}
