/** One turn of the demo agent, with the acts that a prompt can ask for. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Conversation } from './conversation.ts';
import type { DemoPeer } from './peer.ts';

/** Pause between two words, long enough to see them arrive. */
const wordMs = 10;
const permissions = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
];

export class DemoTurn {
  readonly conversation: Conversation;
  readonly signal: AbortSignal;
  readonly #peer: DemoPeer;
  #text = '';
  #calls = 0;

  constructor(peer: DemoPeer, conversation: Conversation, signal: AbortSignal) {
    this.#peer = peer;
    this.conversation = conversation;
    this.signal = signal;
  }

  /** The whole answer so far, without thoughts. */
  get text(): string {
    return this.#text;
  }

  /** Sends text word by word, or in one piece, depending on the model. */
  async say(text: string, sessionUpdate = 'agent_message_chunk'): Promise<void> {
    const pieces = this.conversation.model === 'whole' ? [text] : (text.match(/\s*\S+\s*?(?=\s|$)|\s+$/g) ?? [text]);
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) await pause(wordMs, undefined, { signal: this.signal });
      if (sessionUpdate === 'agent_message_chunk') this.#text += piece;
      await this.update({ sessionUpdate, content: { type: 'text', text: piece } });
    }
  }

  async update(update: Readonly<Record<string, unknown>>): Promise<void> {
    this.signal.throwIfAborted();
    await this.#peer.update(this.conversation.id, update);
  }

  /** Reports a new tool call and returns its id. */
  async begin(kind: string, title: string, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
    this.#calls += 1;
    const toolCallId = `call-${this.conversation.messages.length}-${this.#calls}`;
    await this.update({ sessionUpdate: 'tool_call', toolCallId, kind, title, status: 'pending', ...more });
    return toolCallId;
  }

  async finish(toolCallId: string, status: string, text?: string): Promise<void> {
    const content = text === undefined ? {} : { content: [{ type: 'content', content: { type: 'text', text } }] };
    await this.update({ sessionUpdate: 'tool_call_update', toolCallId, status, ...content });
  }

  /** Whether the user allows a call. */
  async mayWrite(toolCallId: string, title: string): Promise<boolean> {
    const { conversation } = this;
    if (conversation.mode === 'read') return false;
    if (conversation.mode === 'auto' || conversation.mayWrite) return true;
    const params = { sessionId: conversation.id, toolCall: { toolCallId, title, kind: 'edit' }, options: permissions };
    const answer = await this.#peer.request('session/request_permission', params, this.signal);
    const { optionId } = (answer as { outcome: { optionId?: string } }).outcome;
    conversation.mayWrite = optionId === 'always';
    return optionId === 'allow' || optionId === 'always';
  }

  /** The user's answer; null: the user declined. */
  async elicit(message: string, choices: readonly string[]): Promise<string | null> {
    const field = { type: 'string', title: 'Answer', ...(choices.length > 0 ? { enum: choices } : {}) };
    const requestedSchema = { type: 'object', properties: { answer: field }, required: ['answer'] };
    const params = { sessionId: this.conversation.id, mode: 'form', message, requestedSchema };
    const response = await this.#peer.request('elicitation/create', params, this.signal);
    const { action, content } = response as { action: string; content?: { answer?: unknown } };
    return action === 'accept' ? String(content?.answer ?? '') : null;
  }
}
